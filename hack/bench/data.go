//go:build unix

package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

//go:embed fetch.py
var fetchScript string

const (
	dataFiles, dataFileSize  = 20_000, 4 << 10
	dataLarge, dataLargeSize = 4, 256 << 20
	dataMany                 = 1_000_000
)

// A dataBench is an emulator of Cloud Storage, and trees to send there.
type dataBench struct {
	*bench
	url     string
	self    string // this program
	buckets int
	server  *exec.Cmd
}

// data: trees of data to a bucket and back, compared with rclone.
func (b *bench) data(ctx context.Context) (err error) {
	d := &dataBench{bench: b}
	if d.self, err = os.Executable(); err != nil {
		return err
	}
	if err := d.makeMany(); err != nil {
		return err
	}
	if err := d.planMany(ctx); err != nil {
		return err
	}
	if err := d.makeTree("small", dataFiles, dataFileSize); err != nil {
		return err
	}
	if err := d.rounds(ctx); err != nil {
		return err
	}
	return d.besideRclone(ctx, "data to a bucket and back", func() error {
		if err := d.tree(ctx, "small", fmt.Sprintf("%d x 4 KB", dataFiles), ">= 20x", ">= 20x", ">= 5x"); err != nil {
			return err
		}
		if err := d.makeTree("large", dataLarge, dataLargeSize); err != nil {
			return err
		}
		return d.tree(ctx, "large", fmt.Sprintf("%d x %s", dataLarge, mb(dataLargeSize)), ">= 1.3x", "", ">= 1.3x")
	})
}

// besideRclone calls measure while there is a server for buckets. Without rclone, it says that what is left out.
func (d *dataBench) besideRclone(ctx context.Context, what string, measure func() error) error {
	if _, err := exec.LookPath("rclone"); err != nil {
		d.row(what, "left out: rclone is missing: apt-get install rclone", "", "", "")
		return nil
	}
	if err := d.serve(ctx); err != nil {
		return err
	}
	defer func() { _ = errors.Join(d.server.Process.Kill(), d.server.Wait()) }()
	return measure()
}

// rclone copies between a directory and a bucket's remote.
func (d *dataBench) rclone(ctx context.Context, env []string, from, to string) func() *exec.Cmd {
	return command(ctx, d.dir, env, "rclone", "--config", os.DevNull, "--transfers", "16", "--checkers", "16", "copy", from, to)
}

// remote is what rclone calls a bucket.
func (d *dataBench) remote(bucket string) string {
	return fmt.Sprintf(":gcs,anonymous,endpoint=%q:%s", d.url+"/storage/v1/", bucket)
}

// serve starts fake-gcs-server, which `make cluster` uses, too.
func (d *dataBench) serve(ctx context.Context) error {
	build := exec.CommandContext(ctx, "go", "-C", "hack/cluster/kubebox", "tool", "-n", "fake-gcs-server")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	program, err := build.Output()
	if err != nil {
		return fmt.Errorf("building fake-gcs-server: %w", err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	if err := free.Close(); err != nil {
		return err
	}
	d.url = "http://127.0.0.1:" + port
	d.server = exec.CommandContext(ctx, strings.TrimSpace(string(program)), "-scheme", "http", "-host", "127.0.0.1", "-port", port,
		"-backend", "filesystem", "-filesystem-root", filepath.Join(d.dir, "gcs"), "-external-url", d.url, "-public-host", "127.0.0.1:"+port, "-log-level", "error")
	if err := d.server.Start(); err != nil {
		return err
	}
	for range 100 {
		answer, err := http.Get(d.url + "/storage/v1/b?project=p")
		if err == nil {
			return answer.Body.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("fake-gcs-server does not start")
}

// bucket makes an empty bucket.
func (d *dataBench) bucket(ctx context.Context) (string, error) {
	d.buckets++
	name := fmt.Sprintf("bench-%d", d.buckets)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+"/storage/v1/b?project=p", strings.NewReader(fmt.Sprintf(`{"name":%q}`, name)))
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	return name, answer.Body.Close()
}

// tree measures the three ways of a tree: up, up again, down.
func (d *dataBench) tree(ctx context.Context, name, what, upAim, againAim, downAim string) error {
	dir := filepath.Join(d.dir, "data", name)
	ours, err := d.bucket(ctx)
	if err != nil {
		return err
	}
	theirs, err := d.bucket(ctx)
	if err != nil {
		return err
	}
	env := append(os.Environ(), append(d.home, api.EnvStorageEmulator+"="+d.url)...)
	remote := d.remote(theirs)
	rclone := func(from, to string) func() *exec.Cmd { return d.rclone(ctx, env, from, to) }
	down, err := d.downDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(down)
	up := command(ctx, d.dir, env, d.self, "send-data", dir, "gs://"+ours, filepath.Join(d.dir, "cache"))
	for _, step := range []struct {
		what, aim string
		runs      int // the median counts
		ours      func() *exec.Cmd
		theirs    func() *exec.Cmd
	}{
		{"up", upAim, 1, up, rclone(dir, remote)},
		{"up again, unchanged", againAim, 3, up, rclone(dir, remote)},
		{"down", downAim, 3, d.fetch(ctx, env, "gs://"+ours, dir, filepath.Join(down, "ours")), rclone(remote, filepath.Join(down, "rclone"))},
	} {
		mine, other, err := alternately(step.runs, down, step.ours, step.theirs)
		if err != nil {
			return err
		}
		d.row(fmt.Sprintf("data: %s %s / rclone (%s)", what, step.what, mb(mine.rss)), ms(mine), ms(other),
			fmt.Sprintf("%.1fx faster", other.wall.Seconds()/mine.wall.Seconds()), step.aim)
	}
	return nil
}

// alternately measures two commands in turn, and first removes what they downloaded the last time.
func alternately(n int, down string, a, b func() *exec.Cmd) (sample, sample, error) {
	var ours, theirs []sample
	for range n {
		if err := errors.Join(os.RemoveAll(down), os.Mkdir(down, 0o755)); err != nil {
			return sample{}, sample{}, err
		}
		one, err := once(a())
		if err != nil {
			return sample{}, sample{}, err
		}
		other, err := once(b())
		if err != nil {
			return sample{}, sample{}, err
		}
		ours, theirs = append(ours, one), append(theirs, other)
	}
	return median(ours), median(theirs), nil
}

// downDir makes a directory for downloads, in memory where the system has that: ext4 takes up
// to ten times as long for a new file where many files were removed in the last minutes.
func (d *dataBench) downDir() (string, error) {
	const memory, room = "/dev/shm", 4 * dataLarge * dataLargeSize
	var disk syscall.Statfs_t
	if err := syscall.Statfs(memory, &disk); err == nil && disk.Bavail*uint64(disk.Bsize) > room {
		return os.MkdirTemp(memory, "kinetic-bench-")
	}
	return os.MkdirTemp(d.dir, "down-")
}

// fetch returns what fetches the data set of a directory, as a pod does.
func (d *dataBench) fetch(ctx context.Context, env []string, url, dir, target string) func() *exec.Cmd {
	return func() *exec.Cmd {
		set, err := pack.NewSet(ctx, pack.Options{Root: dir, CacheDir: filepath.Join(d.dir, "cache")})
		if err != nil {
			return &exec.Cmd{Err: err}
		}
		env := append(env, "PYTHONPATH="+runnerFolder())
		return command(ctx, d.dir, env, "python3", "-c", fetchScript, url, d.url, set.SHA256, target)()
	}
}

// runnerFolder is where the runner's source is.
func runnerFolder() string {
	dir, err := filepath.Abs("runner")
	if err != nil {
		return "runner"
	}
	return dir
}

// makeTree makes files of random bytes.
func (d *dataBench) makeTree(name string, files, size int) error {
	for i := range files {
		path := filepath.Join(d.dir, "data", name, fmt.Sprintf("d%d", i%100), fmt.Sprintf("f%d.bin", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if size >= 1<<20 {
			if err := fill(path, size); err != nil {
				return err
			}
			continue
		}
		buf := make([]byte, size)
		if _, err := rand.Read(buf); err != nil {
			return err
		}
		if err := os.WriteFile(path, buf, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// makeMany makes empty files.
func (d *dataBench) makeMany() error {
	for i := range dataMany {
		dir := filepath.Join(d.dir, "data", "many", fmt.Sprintf("d%03d", i%1000))
		if i < 1000 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("image-%07d.jpg", i)), nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// planMany measures the plan of very many files.
func (d *dataBench) planMany(ctx context.Context) error {
	plan := command(ctx, d.dir, append(os.Environ(), d.home...), d.self, "plan-data", filepath.Join(d.dir, "data", "many"), filepath.Join(d.dir, "cache"))
	for _, what := range []string{"first", "again"} {
		s, err := once(plan())
		if err != nil {
			return err
		}
		d.row(fmt.Sprintf("data: %d files planned, %s (%s)", dataMany, what, mb(s.rss)), ms(s), "", "", "<= 30 s, 200 MB")
	}
	return nil
}

// planData plans a directory of data.
func planData(ctx context.Context, args []string) error {
	_, err := pack.NewSet(ctx, pack.Options{Root: args[0], CacheDir: args[1]})
	return err
}

// sendData plans a directory of data and sends what a store lacks.
func sendData(ctx context.Context, args []string) error {
	set, err := pack.NewSet(ctx, pack.Options{Root: args[0], CacheDir: args[2]})
	if err != nil {
		return err
	}
	s, err := store.Open(args[1])
	if err != nil {
		return err
	}
	_, err = set.Upload(ctx, s, nil)
	return errors.Join(err, s.Close())
}
