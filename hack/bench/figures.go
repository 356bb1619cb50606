//go:build unix

package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// dryRun: rendering a script's job, compared with kubectl's own generator.
func (b *bench) dryRun(ctx context.Context) error {
	if err := b.write("script/train.py", "print('hello')\n"); err != nil {
		return err
	}
	ours, kubectl, err := pair(runs,
		command(ctx, filepath.Join(b.dir, "script"), b.home, filepath.Join(b.bin, "kubectl-kinetic_run"), "train.py", "--image", "python:3.12", "--project", "my-project", "--dry-run", "-o", "yaml"),
		command(ctx, b.dir, b.home, "kubectl", "create", "job", "train", "--image=python:3.12", "--dry-run=client", "-o", "yaml"))
	if err != nil {
		return err
	}
	b.compare("run --dry-run -o yaml of a script / kubectl create job --dry-run=client -o yaml", ours, kubectl, "<= 0.35x")
	return nil
}

// slice: rendering the job of a slice of 256 hosts, compared with two hosts.
func (b *bench) slice(ctx context.Context) error {
	if err := b.write("slice/train.py", "print('hello')\n"); err != nil {
		return err
	}
	render := func(accelerator string) func() *exec.Cmd {
		return command(ctx, filepath.Join(b.dir, "slice"), b.home, filepath.Join(b.bin, "kubectl-kinetic_run"), "train.py",
			"-a", accelerator, "--image", "python:3.12", "--project", "my-project", "--dry-run", "-o", "yaml")
	}
	many, two, err := pair(runs, render("tpu-v5p-1024"), render("tpu-v5p-8"))
	if err != nil {
		return err
	}
	b.compare("run --dry-run -o yaml of a slice of 256 hosts / of two hosts", many, two, "<= 1.10x")
	return nil
}

// frontDoor: what the front door adds to the command behind it.
func (b *bench) frontDoor(ctx context.Context) error {
	through, direct, err := pair(runs,
		command(ctx, b.dir, b.home, filepath.Join(b.bin, "kubectl-kinetic"), "jobs", "--help"),
		command(ctx, b.dir, b.home, filepath.Join(b.bin, "kubectl-kinetic_jobs"), "--help"))
	if err != nil {
		return err
	}
	b.row("front door, on top of the command behind it", ms(sample{wall: through.wall - direct.wall}), "", "", "< 5 ms")
	return nil
}

// settings: the commands that contact nothing, compared with the one of kubectl that does the least.
func (b *bench) settings(ctx context.Context) error {
	for _, words := range []string{"accelerators", "config", "profile ls"} {
		ours, kubectl, err := pair(runs,
			command(ctx, b.dir, b.home, filepath.Join(b.bin, "kubectl-kinetic_pool"), strings.Fields(words)...),
			command(ctx, b.dir, b.home, "kubectl", "version", "--client"))
		if err != nil {
			return err
		}
		b.compare(words+" / kubectl version --client", ours, kubectl, "<= 1.50x")
	}
	return nil
}

//go:embed zip.py
var zipScript string

const (
	sources    = 3000
	largeFiles = 4
	largeSize  = 64 << 20
)

// packaging: content-addressed packs, compared with a zip file and its hash.
func (b *bench) packaging(ctx context.Context) error {
	root := filepath.Join(b.dir, "project")
	if err := b.makeProject(); err != nil {
		return err
	}
	zipped, err := once(exec.CommandContext(ctx, "python3", "-c", zipScript, root, filepath.Join(b.dir, "context.zip")))
	if err != nil {
		return err
	}
	first, stats, err := b.pack(ctx, root)
	if err != nil {
		return err
	}
	b.faster(fmt.Sprintf("packaging %d sources + %d x 64 MB, first (%s stored)", sources, largeFiles, mb(stats.NewBytes)), first, zipped, ">= 10x faster")
	again, stats, err := b.pack(ctx, root)
	if err != nil {
		return err
	}
	b.faster(fmt.Sprintf("packaging it again, unchanged (%d bytes stored)", stats.NewBytes), again, zipped, ">= 50x faster")
	if err := b.write("project/d7/m1234.py", "changed = True\n"); err != nil {
		return err
	}
	changed, stats, err := b.pack(ctx, root)
	if err != nil {
		return err
	}
	b.faster(fmt.Sprintf("packaging it with one line changed (%.2f MB stored)", float64(stats.NewBytes)/(1<<20)), changed, zipped, "< 8 MB stored")
	return nil
}

func (b *bench) faster(what string, ours, instead sample, aim string) {
	b.row(what, ms(ours), ms(instead)+" zip+sha256", fmt.Sprintf("%.0fx faster", float64(instead.wall)/float64(ours.wall)), aim)
}

func (b *bench) makeProject() error {
	line := strings.Repeat("def function(argument):\n    return argument + 1\n", 80)
	for i := range sources {
		if err := b.write(fmt.Sprintf("project/d%d/m%d.py", i%10, i), fmt.Sprintf("NUMBER = %d\n%s", i, line)); err != nil {
			return err
		}
	}
	buf := make([]byte, largeSize)
	for i := range largeFiles {
		if _, err := rand.Read(buf); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.dir, "project", fmt.Sprintf("weights%d.bin", i)), buf, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pack does what a run does with the project: it plans and stores what is new.
func (b *bench) pack(ctx context.Context, root string) (sample, pack.Stats, error) {
	s, err := store.OpenFile("file://" + filepath.Join(b.dir, "store"))
	if err != nil {
		return sample{}, pack.Stats{}, err
	}
	start := time.Now()
	layout, err := pack.FindProject(pack.ProjectOptions{EntryDir: root, Cwd: root, Home: "/"})
	if err != nil {
		return sample{}, pack.Stats{}, err
	}
	plan, err := pack.PlanProject(ctx, layout, pack.PlanOptions{Options: pack.Options{CacheDir: filepath.Join(b.dir, "cache")}})
	if err != nil {
		return sample{}, pack.Stats{}, err
	}
	stats, err := plan.Upload(ctx, s, nil)
	return sample{wall: time.Since(start)}, stats, err
}

// local: a no-op function from the command line to its result.
func (b *bench) local(ctx context.Context) error {
	if err := b.write("noop/f.py", "def f():\n    pass\n"); err != nil {
		return err
	}
	ours, python, err := pair(runs,
		command(ctx, filepath.Join(b.dir, "noop"), b.home, filepath.Join(b.bin, "kubectl-kinetic"), "run", "f.py:f", "--local"),
		command(ctx, b.dir, nil, "python3", "-c", "pass"))
	if err != nil {
		return err
	}
	b.row("run --local of a no-op function, over python3 -c pass", ms(ours), ms(python), "+"+ms(sample{wall: ours.wall - python.wall}), "<= +250 ms")
	return nil
}

// runner: the program in the pod alone, from start to exit, for a call that does nothing.
func (b *bench) runner(ctx context.Context) error {
	dir := filepath.Join(b.dir, "runner")
	root := filepath.Join(dir, "store")
	if err := b.write("runner/noop/f.py", "def f():\n    pass\n"); err != nil {
		return err
	}
	if err := b.write("runner/"+runner.File, string(runner.Zip())); err != nil {
		return err
	}
	prepare := command(ctx, filepath.Join(dir, "noop"), b.home, filepath.Join(b.bin, "kubectl-kinetic_run"), "f.py:f", "--local", "--store", "file://"+root, "--job-id", "first", "--cleanup=false")
	if _, err := once(prepare()); err != nil {
		return err
	}
	call, err := os.ReadFile(filepath.Join(root, "first", "call.json"))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, "first", "handle.json"))
	if err != nil {
		return err
	}
	handle, err := api.ParseHandle(text)
	if err != nil {
		return err
	}
	python, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return err
	}
	interpreter := strings.TrimSpace(string(python))
	n := 0
	run := func() *exec.Cmd {
		n++
		id := fmt.Sprintf("again-%d", n)
		_ = b.write(filepath.Join("runner", "store", id, "call.json"), string(call)) // if this fails, the runner says so
		return exec.CommandContext(ctx, interpreter, "-u", filepath.Join(dir, runner.File), "--job", id, "--store", "file://"+root,
			"--call", handle.CallSHA256, "--bundle", handle.BundleSHA256, "--function", "--final", "--work", filepath.Join(dir, id), "--termination-log", "")
	}
	ours, bare, err := pair(runs, run, command(ctx, dir, nil, interpreter, "-c", "pass"))
	if err != nil {
		return err
	}
	b.row("runner by itself, over python3 -c pass", ms(ours), ms(bare), "+"+ms(sample{wall: ours.wall - bare.wall}), "<= 100 ms in all")
	return nil
}

// memory: what the client needs for a large result and a long log.
func (b *bench) memory(ctx context.Context) error {
	if err := b.write("memory/f.py", `def result():
    return "x" * 5_000_000

def log(lines):
    for i in range(lines):
        print(i, "a line of a hundred characters, more or less, as training loops like to print them: loss 0.1234")
`); err != nil {
		return err
	}
	for _, c := range []struct{ what, target, arg string }{
		{"client's memory for a 5 MB result", "f.py:result", ""},
		{"client's memory for 10,000 log lines", "f.py:log", "lines=10000"},
		{"client's memory for 1,000,000 log lines", "f.py:log", "lines=1000000"},
	} {
		args := []string{c.target, "--local"}
		if c.arg != "" {
			args = append(args, "--arg", c.arg)
		}
		cmd := command(ctx, filepath.Join(b.dir, "memory"), b.home, filepath.Join(b.bin, "kubectl-kinetic_run"), args...)()
		cmd.Stderr = io.Discard
		s, err := once(cmd)
		if err != nil {
			return err
		}
		b.row(c.what, mb(s.rss)+", "+ms(s), "", "", "constant")
	}
	return nil
}
