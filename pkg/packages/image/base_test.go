package image_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

var musl = file{name: "lib/ld-musl-x86_64.so.1", data: "\x7fELF\x00musl libc (%s)\nVersion %s\n\x001.2.5\x00"}

func TestInspect(t *testing.T) {
	t.Parallel()
	s := inProcess(t)
	interpreter := file{name: "usr/bin/python3.11", data: "ELF"}
	venvPath := []string{"PATH=/opt/venv/bin:/usr/bin"}
	for name, tt := range map[string]struct {
		env    []string
		layers [][]file
		want   image.Facts
	}{
		"Docker's": {official("3.13.1"), [][]file{{glibc}, {}},
			image.Facts{Python: "3.13", FullPython: "3.13.1", Interpreter: "/usr/local/bin/python3.13", Libc: "glibc 2.36"}},
		"Docker's of a prerelease": {official("3.14.0rc2"), [][]file{{glibc}, {}},
			image.Facts{Python: "3.14", FullPython: "3.14.0", Interpreter: "/usr/local/bin/python3.14", Libc: "glibc 2.36"}},
		"Docker's on Alpine": {official("3.13.1"), [][]file{{musl}, {}},
			image.Facts{Python: "3.13", FullPython: "3.13.1", Interpreter: "/usr/local/bin/python3.13", Libc: "musl 1.2"}},
		"Debian's": {nil, [][]file{{glibc}, {interpreter, {name: "usr/bin/python3", link: "python3.11"}}},
			image.Facts{Python: "3.11", Interpreter: "/usr/bin/python3.11", Libc: "glibc 2.36"}},
		"alternatives": {nil, [][]file{{glibc, interpreter}, {{name: "./etc/alternatives/python3", link: "../../usr/bin/python3.11"}, {name: "./usr/bin/python3", link: "/etc/alternatives/python3"}}},
			image.Facts{Python: "3.11", Interpreter: "/usr/bin/python3.11", Libc: "glibc 2.36"}},
		"a hard link": {nil, [][]file{{interpreter, {name: "usr/bin/python3", link: "=usr/bin/python3.11"}}, {glibc}},
			image.Facts{Python: "3.11", Interpreter: "/usr/bin/python3.11", Libc: "glibc 2.36"}},
		"PYTHON_VERSION of somebody else": {[]string{"PYTHON_VERSION=3.9.1"}, [][]file{{glibc, interpreter, {name: "usr/bin/python3", link: "python3.11"}}},
			image.Facts{Python: "3.11", Interpreter: "/usr/bin/python3.11", Libc: "glibc 2.36"}},
		"the first of the PATH": {[]string{"PATH=/opt/conda/bin:/usr/bin"}, [][]file{{glibc, interpreter, {name: "usr/bin/python3", link: "python3.11"}}, {{name: "opt/conda/bin/python3", link: "python3.12"}, {name: "opt/conda/bin/python3.12"}}},
			image.Facts{Python: "3.12", Interpreter: "/opt/conda/bin/python3.12", Libc: "glibc 2.36"}},
		"the upper layer": {nil, [][]file{{glibc, interpreter, {name: "usr/bin/python3", link: "python3.11"}}, {{name: "usr/bin/python3.12"}, {name: "usr/bin/python3", link: "python3.12"}}},
			image.Facts{Python: "3.12", Interpreter: "/usr/bin/python3.12", Libc: "glibc 2.36"}},
		"a deleted one": {nil, [][]file{{glibc, interpreter, {name: "usr/local/bin/python3"}, {name: "usr/bin/python3", link: "python3.11"}}, {{name: "usr/local/bin/.wh.python3"}}},
			image.Facts{Python: "3.11", Interpreter: "/usr/bin/python3.11", Libc: "glibc 2.36"}},
		"a virtual environment": {venvPath, [][]file{{glibc, interpreter}, {{name: "opt/venv/bin/python3", link: "/usr/bin/python3.11"}, {name: "opt/venv/lib/x"}, {name: "opt/venv/pyvenv.cfg"}}, {}},
			image.Facts{Python: "3.11", Interpreter: "/usr/bin/python3.11", Environment: "/opt/venv", Libc: "glibc 2.36"}},
		"a virtual environment in the layer of its Python": {venvPath, [][]file{{glibc, interpreter, {name: "opt/venv/bin/python3", link: "python"}, {name: "opt/venv/bin/python", link: "/usr/bin/python3.11"}, {name: "opt/venv/pyvenv.cfg"}}},
			image.Facts{Python: "3.11", Interpreter: "/usr/bin/python3.11", Environment: "/opt/venv", Libc: "glibc 2.36"}},
		"a virtual environment that was deleted": {venvPath, [][]file{{glibc, interpreter, {name: "usr/bin/python3", link: "python3.11"}, {name: "opt/venv/bin/python3", link: "/usr/bin/python3"}, {name: "opt/venv/pyvenv.cfg"}}, {{name: "opt/venv/.wh.pyvenv.cfg"}}},
			image.Facts{Python: "3.11", Interpreter: "/usr/bin/python3.11", Libc: "glibc 2.36"}},
		"uv's Python, in a directory with another name": {[]string{"PATH=/usr/local/bin"}, [][]file{{glibc}, {{name: "root/python/3.11", link: "3.11.7-linux"}, {name: "root/python/3.11.7-linux/bin/python3.11"}, {name: "root/pythons", link: "python"}}, {{name: "usr/local/bin/python3", link: "/root/pythons/3.11/bin/python3.11"}}},
			image.Facts{Python: "3.11", Interpreter: "/root/python/3.11.7-linux/bin/python3.11", Libc: "glibc 2.36"}},
		"a linked directory on the PATH": {[]string{"PATH=/bin"}, [][]file{{glibc, interpreter, {name: "usr/bin/python3", link: "python3.11"}, {name: "bin", link: "usr/bin"}}},
			image.Facts{Python: "3.11", Interpreter: "/usr/bin/python3.11", Libc: "glibc 2.36"}},
		"musl beside glibc": {official("3.12.1"), [][]file{{musl}, {glibc}},
			image.Facts{Python: "3.12", FullPython: "3.12.1", Interpreter: "/usr/local/bin/python3.12", Libc: "glibc 2.36"}},
		"conda's sysroot": {official("3.12.1"), [][]file{{{name: "opt/conda/x86_64-conda-linux-gnu/sysroot/lib64/libc.so.6", data: "GNU C Library stable release version 2.17."}}, {glibc}},
			image.Facts{Python: "3.12", FullPython: "3.12.1", Interpreter: "/usr/local/bin/python3.12", Libc: "glibc 2.36"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var layers []v1.Layer
			for _, files := range tt.layers {
				layers = append(layers, layerOf(t, append(files, file{name: "etc/" + strings.ReplaceAll(name, " ", "-")})...))
			}
			base := baseOf(t, "amd64", tt.env, layers...)
			digest, err := base.Digest()
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Arch, tt.want.Digest = "amd64", digest.String()
			ref, c := s.put(t, "base:"+digest.Hex, base), client(t)
			for range 2 { // the second from memory
				if got, err := c.Inspect(context.Background(), ref, "amd64"); err != nil || got != tt.want {
					t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
				}
			}
		})
	}
}

func TestInspectReadsLayersOnce(t *testing.T) {
	t.Parallel()
	s := inProcess(t)
	ref, c := s.put(t, "base", python(t, "")), client(t)
	blobs := func() int {
		return len(slices.DeleteFunc(s.since(func() {
			if _, err := c.Inspect(context.Background(), ref, "amd64"); err != nil {
				t.Error(err)
			}
		}), func(r string) bool { return !strings.Contains(r, "/blobs/") }))
	}
	if got := blobs(); got != 2 {
		t.Errorf("%d blobs, want the configuration and the layer with the C library", got)
	}
	if got := blobs(); got != 0 {
		t.Errorf("%d blobs, want none, from memory", got)
	}
}

func TestInspectPicksThePlatform(t *testing.T) {
	t.Parallel()
	s := inProcess(t)
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for arch, version := range map[string]string{"amd64": "3.12.1", "arm64": "3.13.1"} {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        baseOf(t, arch, official(version), layerOf(t, glibc)),
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch, Variant: map[string]string{"arm64": "v8"}[arch]}},
		})
	}
	ref := s.put(t, "index", index)
	for arch, want := range map[string]string{"amd64": "3.12", "arm64": "3.13"} {
		if f, err := client(t).Inspect(context.Background(), ref, arch); err != nil || f.Python != want || f.Arch != arch {
			t.Errorf("%s: %+v, %v", arch, f, err)
		}
	}
	_, err := client(t).Inspect(context.Background(), ref, "s390x")
	if err == nil || !strings.Contains(err.Error(), "it is not available for linux/s390x, only for linux/a") || !strings.Contains(err.Error(), ", linux/a") {
		t.Errorf("err = %v", err)
	}
}

func TestImagesThatCanBeNoBase(t *testing.T) {
	t.Parallel()
	s := inProcess(t)
	python3 := file{name: "usr/bin/python3"}
	for name, tt := range map[string]struct {
		base v1.Image
		want string
	}{
		"no Python":        {baseOf(t, "amd64", nil, layerOf(t, glibc)), "there is no python3 on its PATH; name an image that has CPython, such as python:3.12-slim"},
		"elsewhere":        {baseOf(t, "amd64", []string{"PATH=/bin"}, layerOf(t, glibc, python3)), "there is no python3 on its PATH"},
		"no version":       {baseOf(t, "amd64", nil, layerOf(t, glibc, python3)), "the version of its Python is unknown: /usr/bin/python3 is /usr/bin/python3, not pythonX.Y"},
		"PyPy":             {baseOf(t, "amd64", nil, layerOf(t, glibc, file{name: "usr/bin/python3", link: "pypy3.10"})), "there is no python3"},
		"a circle":         {baseOf(t, "amd64", nil, layerOf(t, glibc, file{name: "usr/bin/python3", link: "python"}, file{name: "usr/bin/python", link: "python3"})), "/usr/bin/python3 is a link that leads to itself"},
		"too old":          {baseOf(t, "amd64", official("3.7.9"), layerOf(t, glibc)), "3.7"},
		"no libc":          {baseOf(t, "amd64", official("3.12.1"), layerOf(t)), "its C library was not found, neither glibc nor musl"},
		"musl":             {baseOf(t, "amd64", official("3.12.1"), layerOf(t, file{name: "lib/ld-musl-x86_64.so.1", data: "ELF"})), "its C library is musl, of an unknown version; name an image with glibc"},
		"one architecture": {baseOf(t, "arm64", official("3.12.1"), layerOf(t, glibc)), "it is not available for linux/amd64, only for linux/arm64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			digest, err := tt.base.Digest()
			if err != nil {
				t.Fatal(err)
			}
			ref := s.put(t, "no-base:"+digest.Hex, tt.base)
			_, err = client(t).Inspect(context.Background(), ref, "amd64")
			if bad := new(image.BaseError); !errors.As(err, &bad) || !strings.Contains(err.Error(), "the base image "+ref+": ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v\nwant %q in it", err, tt.want)
			}
		})
	}
}

func TestBasesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := inProcess(t)
	ref := s.put(t, "base:latest", python(t, ""))
	for _, tt := range []struct{ ref, want string }{
		{s.host + "/nothing:here", "there is no such image; check its name"},
		{"Not a name", "could not parse reference"},
		{"localhost:1/base", "reading the base image localhost:1/base from localhost:1/base: "},
	} {
		_, err := client(t).Inspect(context.Background(), tt.ref, "amd64")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: err = %v, want %q in it", tt.ref, err, tt.want)
		}
	}
	for code, want := range map[int]string{401: "sign in with `docker login " + s.host, 403: "ask its owner for access", 500: "try again later"} {
		s.with(func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(code)
			return true
		}, func() {
			_, err := client(t).Inspect(context.Background(), ref, "amd64")
			if refused := new(image.RegistryError); !errors.As(err, &refused) || refused.Status() != code || !strings.Contains(err.Error(), want) {
				t.Errorf("%d: err = %v, want %q in it", code, err, want)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stopped := errors.New("stopped")
	cancel(stopped)
	if _, err := client(t).Inspect(ctx, ref, "amd64"); !errors.Is(err, stopped) {
		t.Errorf("err = %v, want %v", err, stopped)
	}
}
