//go:build unix

// Package largeset tests what a change of one small package of a CUDA project costs: bytes to the registry,
// and bytes to a node. make test-full runs it; it needs 20 GB of disk, and for the node root and containerd.
package largeset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-kinetic/kinetic/hack/bench/depot"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// The sizes in MiB of the large wheels, about those of PyTorch with CUDA; together 3 GB.
var large = map[string]int64{"torch": 850, "cudnn": 680, "cublas": 570, "nccl": 310, "cusparse": 270, "triton": 180, "cufft": 140}

const (
	smalls    = 20
	smallSize = 256 << 10
	// mostAgain is the most bytes that a change of a small wheel may cost: its layer, a manifest and a
	// configuration with 27 layers, a note.
	mostAgain = smallSize + 100<<10
)

func TestChangeOfASmallWheel(t *testing.T) {
	if os.Getenv("KINETIC_TEST_LARGE") == "" {
		t.Skip("KINETIC_TEST_LARGE is not set: it takes minutes and 20 GB of disk; make test-full sets it")
	}
	t.Chdir("../..") // where the depot finds its registry
	d, err := depot.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	base, err := d.PutBase(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	var wheels []wheel.Source
	var total int64
	add := func(project, version string, size int64) wheel.Source {
		w, err := d.MakeWheel(project, version, size)
		if err != nil {
			t.Fatal(err)
		}
		return wheel.Source{File: w.File, SHA256: w.SHA256, Path: filepath.Join(d.Dir, w.File), Size: w.Size}
	}
	for project, size := range large {
		wheels = append(wheels, add(project, "1.0", size<<20))
	}
	for n := range smalls {
		wheels = append(wheels, add(fmt.Sprintf("small%d", n), "1.0", smallSize+int64(n)))
	}
	for _, w := range wheels {
		total += w.Size
	}
	first := makeImage(t, d, base, wheels)
	if first.Sent < total {
		t.Errorf("%d bytes were sent of wheels with %d", first.Sent, total)
	}
	wheels[len(wheels)-1] = add(fmt.Sprintf("small%d", smalls-1), "1.1", smallSize+smalls/2) // in the middle of the small ones
	second := makeImage(t, d, base, wheels)
	if second.Sent > mostAgain || second.Layers != 1 {
		t.Errorf("after a change of one small wheel, %d bytes in %d new layers were sent, want at most %d in one", second.Sent, second.Layers, mostAgain)
	}
	t.Logf("sent: at first %d bytes, after a change of one small wheel %d", first.Sent, second.Sent)
	above := layersAbove(t, d, first, second)
	if most := int64(smalls * (smallSize + 10<<10)); above > most {
		t.Errorf("from the first layer that has changed upwards, there are %d bytes, want at most %d", above, most)
	}
	t.Logf("a node that keeps no layers but those of its images unpacks %d bytes of layers again", above)
	t.Run("node", func(t *testing.T) { pullBoth(t, d, first, second, total) })
}

// makeImage makes the image of wheels, as run does.
func makeImage(t *testing.T, d *depot.Depot, base string, wheels []wheel.Source) image.Made {
	t.Helper()
	c := &image.Client{TempDir: t.TempDir()}
	facts, err := c.Inspect(t.Context(), base, "amd64")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	made, err := c.Make(t.Context(), d.Registry+"/env", image.Env{
		Base: base, Arch: "amd64", Layout: wheel.Layout{Prefix: "opt/kinetic/env", Python: facts.Python}, Wheels: wheels,
	}, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, %d layers of it new, made in %s; this process has used %d KiB of memory at most", made.Image, made.Layers, time.Since(began).Round(time.Second), usage.Maxrss)
	return made
}

// layersAbove returns how many bytes the layers of an image have from the first that another image lacks.
func layersAbove(t *testing.T, d *depot.Depot, first, second image.Made) int64 {
	t.Helper()
	before, after := manifest(t, d, first), manifest(t, d, second)
	var above int64
	same := true
	for i, l := range after.Layers {
		if same = same && i < len(before.Layers) && before.Layers[i].Digest == l.Digest; !same {
			above += l.Size
		}
	}
	return above
}

func manifest(t *testing.T, d *depot.Depot, made image.Made) (m v1.Manifest) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.Registry+"/v2/env/manifests/"+made.Digest, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&m); err != nil || len(m.Layers) == 0 {
		t.Fatalf("the manifest of %s has %d layers: %v", made.Image, len(m.Layers), err)
	}
	return m
}

// pullBoth pulls one image after the other, as a node does, and counts what containerd reads of the registry.
func pullBoth(t *testing.T, d *depot.Depot, first, second image.Made, total int64) {
	if os.Geteuid() != 0 {
		t.Skip("containerd needs root")
	}
	for _, program := range []string{"containerd", "ctr"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing: hack/cluster/up.sh installs it", program)
		}
	}
	counted, read := counting(t, d.Registry)
	socket := startContainerd(t)
	pull := func(made image.Made) int64 {
		before, began := read.Load(), time.Now()
		out, err := exec.CommandContext(t.Context(), "ctr", "-a", socket, "images", "pull", "--plain-http", "--platform", "linux/amd64", counted+"/env@"+made.Digest).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Logf("pulled %s: %d bytes in %s", made.Digest, read.Load()-before, time.Since(began).Round(time.Second))
		return read.Load() - before
	}
	if n := pull(first); n < total {
		t.Errorf("%d bytes were pulled of wheels with %d", n, total)
	}
	if n := pull(second); n > mostAgain {
		t.Errorf("after a change of one small wheel, %d bytes were pulled, want at most %d", n, mostAgain)
	}
}

// counting returns the address of a proxy to a registry, and how many bytes were read through it.
func counting(t *testing.T, registry string) (string, *atomic.Int64) {
	t.Helper()
	read := &atomic.Int64{}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: registry})
	proxy.ModifyResponse = func(r *http.Response) error {
		r.Body = countedBody{r.Body, read}
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), read
}

type countedBody struct {
	io.ReadCloser
	read *atomic.Int64
}

func (c countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// startContainerd starts a containerd of its own, and returns its socket.
func startContainerd(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "largeset-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "containerd.sock")
	config := fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\n  address = %q\n",
		filepath.Join(dir, "root"), filepath.Join(dir, "state"), socket)
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("containerd", "-c", filepath.Join(dir, "config.toml"))
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := errors.Join(command.Process.Signal(syscall.SIGTERM), command.Wait(), log.Close(), os.RemoveAll(dir))
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	running := func(ctx context.Context) (bool, error) {
		return exec.CommandContext(ctx, "ctr", "-a", socket, "version").Run() == nil, nil
	}
	if err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, running); err != nil {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("containerd does not start: %s", text)
	}
	return socket
}
