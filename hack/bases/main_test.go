package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// serve returns the address of a new registry.
func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// variant is an image of one architecture. Without a version it says none.
type variant struct{ arch, version string }

// push puts an index into a registry, and returns its digest.
func push(t *testing.T, ref string, variants ...variant) string {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	index := v1.ImageIndex(empty.Index)
	for _, v := range variants {
		config := &v1.ConfigFile{OS: "linux", Architecture: v.arch, Config: v1.Config{Env: []string{"PATH=/usr/local/bin"}}}
		if v.version != "" {
			config.Config.Env = append(config.Config.Env, "PYTHON_VERSION="+v.version)
		}
		image, err := mutate.ConfigFile(empty.Image, config)
		if err != nil {
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: v.arch}}})
	}
	if err := remote.WriteIndex(parsed, index); err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bases.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUpdate(t *testing.T) {
	host := serve(t)
	older := push(t, host+"/python:3.11", variant{"amd64", "3.11.14"}, variant{"arm64", "3.11.14"})
	newer := push(t, host+"/python:3.12", variant{"amd64", "3.12.13"}, variant{"arm64", "3.12.13"})
	file := write(t, `[{"python": "3.11", "patch": 9, "image": "`+host+`/python:3.11", "libc": "glibc 2.36"},
{"python": "3.12", "patch": 12, "image": "`+host+`/python:3.12", "digest": "sha256:old", "libc": "glibc 2.36"}]`)
	want := `[
  {"python": "3.11", "patch": 14, "image": "` + host + `/python:3.11", "digest": "` + older + `", "libc": "glibc 2.36"},
  {"python": "3.12", "patch": 13, "image": "` + host + `/python:3.12", "digest": "` + newer + `", "libc": "glibc 2.36"}
]
`
	for range 2 { // the second time there is nothing to do
		if err := update(file); err != nil {
			t.Fatal(err)
		}
		if got := read(t, file); got != want {
			t.Errorf("the table is\n%s\nwant\n%s", got, want)
		}
	}
}

// TestUpdateRefuses has tables that can't be brought up to date. They stay as they are.
func TestUpdateRefuses(t *testing.T) {
	host := serve(t)
	push(t, host+"/python:good", variant{"amd64", "3.12.1"}, variant{"arm64", "3.12.1"})
	push(t, host+"/python:other", variant{"amd64", "3.1.2"}, variant{"arm64", "3.1.2"})
	push(t, host+"/python:amd64", variant{"amd64", "3.12.1"})
	push(t, host+"/python:halfway", variant{"amd64", "3.12.2"}, variant{"arm64", "3.12.1"})
	push(t, host+"/debian:12", variant{"amd64", ""}, variant{"arm64", ""})
	single, err := name.ParseReference(host + "/python:single")
	if err != nil {
		t.Fatal(err)
	}
	config, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: "amd64", Config: v1.Config{Env: []string{"PYTHON_VERSION=3.12.1"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(single, config); err != nil {
		t.Fatal(err)
	}
	for image, want := range map[string]string{
		"python:none":    "MANIFEST_UNKNOWN",
		"python:other":   `PYTHON_VERSION is "3.1.2", expected a release of 3.12`,
		"python:amd64":   "linux/arm64",
		"python:halfway": "different versions of Python 3.12",
		"python:single":  "it has none for linux/arm64, but one for amd64",
		"debian:12":      `PYTHON_VERSION is ""`,
	} {
		text := `[{"python": "3.12", "image": "` + host + `/python:good"}, {"python": "3.12", "image": "` + host + "/" + image + `"}]`
		file := write(t, text)
		err := update(file)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), image) {
			t.Errorf("%s: error %v, want %q", image, err, want)
		}
		if got := read(t, file); got != text {
			t.Errorf("%s: the table was changed to %s", image, got)
		}
	}
}

// TestTable checks that the table in the repository is in the form that is written.
func TestTable(t *testing.T) {
	text := read(t, "../../pkg/packages/decide/bases.json")
	var table []row
	if err := json.Unmarshal([]byte(text), &table); err != nil {
		t.Fatal(err)
	}
	if written := format(table); written != text {
		t.Errorf("the table would be written as\n%s\nit is\n%s", written, text)
	}
}
