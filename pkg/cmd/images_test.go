package cmd_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/rogpeppe/go-internal/testscript"
)

// images: starts a registry, $REGISTRY, with the base image $REGISTRY/python:3.12, and puts a uv on
// PATH that resolves everything to jax and keras. $REGISTRY/denied refuses what is sent to it.
func images(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: images")
	}
	wheels := map[string][]byte{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case wheels[r.URL.Path] != nil:
			_, _ = w.Write(wheels[r.URL.Path])
		case strings.HasPrefix(r.URL.Path, "/v2/denied/") && r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.WriteHeader(http.StatusForbidden)
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	ts.Defer(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	ts.Check(putBase(host + "/python:3.12"))

	lock := "lock-version = \"1.0\"\n"
	for _, project := range []string{"jax", "keras"} {
		data, err := newWheel(project)
		ts.Check(err)
		file := "/" + project + "-1.0-py3-none-any.whl"
		wheels[file] = data
		sum := sha256.Sum256(data)
		lock += fmt.Sprintf("[[packages]]\nname = %q\nversion = \"1.0\"\nwheels = [{url = %q, size = %d, hashes = {sha256 = %q}}]\n", project, server.URL+file, len(data), hex.EncodeToString(sum[:]))
	}
	dir := ts.MkAbs("uv.dir")
	uv := "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --output-file ] && cp " + dir + "/lock \"$2\"; shift; done\n"
	ts.Check(errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "lock"), []byte(lock), 0o600),
		os.WriteFile(filepath.Join(dir, "uv"), []byte(uv), 0o700)))
	ts.Setenv("PATH", dir+string(filepath.ListSeparator)+ts.Getenv("PATH"))
	ts.Setenv("REGISTRY", host)
}

// newWheel returns a wheel with one module.
func newWheel(project string) ([]byte, error) {
	info := project + "-1.0.dist-info/"
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, f := range [][2]string{
		{project + ".py", "here = True\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: " + project + "\nVersion: 1.0\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", project + ".py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		w, err := archive.Create(f[0])
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, f[1]); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return b.Bytes(), err
}

// putBase puts an image like Docker's python:3.12 into a registry.
func putBase(image string) error {
	var b bytes.Buffer
	archive := tar.NewWriter(&b)
	for path, text := range map[string]string{
		"usr/lib/x86_64-linux-gnu/libc.so.6": "GNU C Library (Debian GLIBC 2.36-9+deb12u8) stable release version 2.36.\n",
		"usr/local/bin/python3.12":           "elf",
	} {
		err := archive.WriteHeader(&tar.Header{Name: path, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(archive, text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	if err != nil {
		return err
	}
	base, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	base, err = mutate.ConfigFile(base, &v1.ConfigFile{OS: "linux", Architecture: "amd64", RootFS: rootFS(base),
		Config: v1.Config{Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "PYTHON_VERSION=3.12.7", "PYTHON_SHA256=abc"}}})
	if err != nil {
		return err
	}
	ref, err := name.ParseReference(image)
	if err != nil {
		return err
	}
	return remote.Write(ref, base)
}

func rootFS(i v1.Image) v1.RootFS {
	config, err := i.ConfigFile()
	if err != nil {
		return v1.RootFS{}
	}
	return config.RootFS
}
