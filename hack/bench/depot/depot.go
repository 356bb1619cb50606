//go:build unix

// Package depot is what the benchmarks of images install from: a registry, an index of packages and
// their wheels.
package depot

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/crane"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

//go:embed wheels.py
var wheelsScript string

// A Wheel is a file of the index.
type Wheel struct {
	Project, Version, File, SHA256 string
	// Files is how many files it has, Size its bytes.
	Files int
	Size  int64 `json:"-"`
}

// A Depot is a registry, an index of packages and their wheels.
type Depot struct {
	// Registry is host:port, Dir the directory of the wheels.
	Registry, Dir string
	index         *httptest.Server
	listed        []Wheel
	process       *exec.Cmd
}

// Open starts the CNCF's registry and an index of the wheels in a directory.
func Open(ctx context.Context, dir string) (*Depot, error) {
	d := &Depot{Dir: filepath.Join(dir, "wheels")}
	if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return nil, err
	}
	if err := d.startRegistry(ctx, dir); err != nil {
		return nil, err
	}
	d.index = httptest.NewServer(http.HandlerFunc(d.serve))
	return d, nil
}

// Close stops the registry and the index.
func (d *Depot) Close() {
	d.index.Close()
	_ = d.process.Process.Kill()
	_ = d.process.Wait()
}

var listening = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)

// startRegistry builds and starts the registry that the tests use.
func (d *Depot) startRegistry(ctx context.Context, dir string) error {
	build := exec.CommandContext(ctx, "go", "-C", "hack/tools/registry", "tool", "-n", "registry")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath") // as make test builds it
	program, err := build.Output()
	if err != nil {
		return fmt.Errorf("building the registry: %w", err)
	}
	config := filepath.Join(dir, "registry.yml")
	text := fmt.Sprintf("version: 0.1\nlog: {accesslog: {disabled: true}, level: info}\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: '127.0.0.1:0', relativeurls: true}\n", filepath.Join(dir, "registry"))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	d.process = exec.CommandContext(ctx, strings.TrimSpace(string(program)), "serve", config)
	messages, err := d.process.StderrPipe()
	if err != nil {
		return err
	}
	if err := d.process.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(messages)
	for lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			d.Registry = m[1]
			go func() { _, _ = io.Copy(io.Discard, messages) }()
			return nil
		}
	}
	return fmt.Errorf("the registry does not start: %w", d.process.Wait())
}

// MakeWheels makes the wheels, and some other versions of one project.
func (d *Depot) MakeWheels(ctx context.Context, changed string, number int) error {
	out, err := exec.CommandContext(ctx, "python3", "-c", wheelsScript, d.Dir, changed, fmt.Sprint(number)).Output()
	if err != nil {
		return fmt.Errorf("making the wheels: %w", err)
	}
	if err := json.Unmarshal(out, &d.listed); err != nil {
		return err
	}
	for i, w := range d.listed {
		info, err := os.Stat(filepath.Join(d.Dir, w.File))
		if err != nil {
			return err
		}
		d.listed[i].Size = info.Size()
	}
	return nil
}

// Lock returns the wheels of all projects; of one that was changed, that version.
func (d *Depot) Lock(change int) []Wheel {
	var locked []Wheel
	at := map[string]int{}
	for _, w := range d.listed {
		_, number, _ := strings.Cut(w.Version, ".post")
		_, seen := at[w.Project]
		switch {
		case !seen:
			at[w.Project] = len(locked)
			locked = append(locked, w)
		case number == fmt.Sprint(change):
			locked[at[w.Project]] = w
		}
	}
	return locked
}

// Requirements returns the lines of a lock, with hashes.
func Requirements(wheels []Wheel) string {
	var text strings.Builder
	for _, w := range wheels {
		fmt.Fprintf(&text, "%s==%s --hash=sha256:%s\n", w.Project, w.Version, w.SHA256)
	}
	return text.String()
}

// IndexURL is where pip finds the index.
func (d *Depot) IndexURL() string { return d.index.URL + "/simple" }

// Add adds a wheel in Dir to the index.
func (d *Depot) Add(w Wheel) { d.listed = append(d.listed, w) }

// serve serves the index, as PEP 691 says, and its files.
func (d *Depot) serve(w http.ResponseWriter, r *http.Request) {
	if name, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
		http.ServeFile(w, r, filepath.Join(d.Dir, path.Base(name)))
		return
	}
	project := path.Base(r.URL.Path)
	files := []map[string]any{}
	for _, f := range d.listed {
		if f.Project == project {
			files = append(files, map[string]any{"filename": f.File, "url": "/files/" + f.File, "size": f.Size, "hashes": map[string]string{"sha256": f.SHA256}})
		}
	}
	w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
	_ = json.NewEncoder(w).Encode(map[string]any{"meta": map[string]string{"api-version": "1.0"}, "name": project, "files": files})
}

// The sizes of the layers of base images, which are about those of python:X.Y-slim.
const (
	systemSize = 30 << 20
	pythonSize = 12 << 20
)

// PutBase puts an image like Docker's of Python into the registry.
func (d *Depot) PutBase(ctx context.Context, tag string) (string, error) {
	facts, err := exec.CommandContext(ctx, "python3", "-c", "import platform; print('%s.%s' % platform.python_version_tuple()[:2], platform.libc_ver()[1])").Output()
	if err != nil {
		return "", err
	}
	python, libc, _ := strings.Cut(strings.TrimSpace(string(facts)), " ")
	system, err := filled(systemSize, "usr/lib/x86_64-linux-gnu/libc.so.6", "GNU C Library (Debian GLIBC) stable release version "+libc+".\n")
	if err != nil {
		return "", err
	}
	interpreter, err := filled(pythonSize, "usr/local/bin/python"+python, tag)
	if err != nil {
		return "", err
	}
	image, err := mutate.AppendLayers(empty.Image, system, interpreter)
	if err != nil {
		return "", err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return "", err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", "amd64"
	config.Config = v1.Config{Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "PYTHON_VERSION=" + python + ".0", "PYTHON_SHA256=bench"}}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return "", err
	}
	ref := d.Registry + "/python:" + tag
	return ref, crane.Push(image, ref, crane.WithContext(ctx))
}

// filled returns a layer with a file of random bytes, and after that a small one.
func filled(size int, name, text string) (v1.Layer, error) {
	random := make([]byte, size)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, file := range []struct {
		name    string
		content []byte
	}{{"opt/filler-" + path.Base(name), random}, {name, []byte(text)}} {
		if err := w.WriteHeader(&tar.Header{Name: file.name, Mode: 0o755, Size: int64(len(file.content)), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := w.Write(file.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil })
}
