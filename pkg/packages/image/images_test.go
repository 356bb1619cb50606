package image_test

import (
	"archive/tar"
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

// A file is one of a wheel or of a base image.
type file struct {
	name, data string
	link       string
	mode       int64
}

// layerOf returns a layer of files.
func layerOf(t testing.TB, files ...file) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.data)), Typeflag: tar.TypeReg}
		if target, hard := strings.CutPrefix(f.link, "="); hard {
			h.Typeflag, h.Linkname = tar.TypeLink, target
		} else if f.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, f.link
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = io.WriteString(w, f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// baseOf returns a base image.
func baseOf(t testing.TB, arch string, env []string, layers ...v1.Layer) v1.Image {
	t.Helper()
	i, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		t.Fatal(err)
	}
	config, err := i.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Config.Env = "linux", arch, env
	if i, err = mutate.ConfigFile(i, config); err != nil {
		t.Fatal(err)
	}
	return i
}

// official is the environment of Docker's official images.
func official(version string) []string {
	return []string{"PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "PYTHON_VERSION=" + version, "PYTHON_SHA256=abc"}
}

var glibc = file{name: "usr/lib/x86_64-linux-gnu/libc.so.6", data: "\x7fELF…GNU C Library (Debian GLIBC 2.36-9+deb12u8) stable release version 2.36.\nCopyright"}

// python returns a base like python:3.12-slim.
func python(t testing.TB, mark string) v1.Image {
	t.Helper()
	return baseOf(t, "amd64", official("3.12.7"), layerOf(t, glibc, file{name: "etc/mark", data: mark}),
		layerOf(t, file{name: "usr/local/bin/python3.12", data: noise('p', 50_000)}, file{name: "usr/local/bin/python3", link: "python3.12"}))
}

// client returns a client that does not wait long before it tries again.
func client(t testing.TB) *image.Client {
	t.Helper()
	return &image.Client{
		TempDir: t.TempDir(),
		Memory:  image.Memory{Dir: t.TempDir()},
		Backoff: remote.Backoff{Duration: time.Millisecond, Factor: 1, Steps: 3},
	}
}

// noise returns the same n random bytes for a seed: they can't be compressed.
func noise(seed byte, n int) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(b) //nolint:errcheck // never fails
	return string(b)
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
