package image_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

func exampleEnv() image.Env {
	return image.Env{Base: "python:3.12-slim", Arch: "amd64", Layout: layout, Bytecode: true, Wheels: []wheel.Source{
		{File: "six-1.16.0-py2.py3-none-any.whl", SHA256: strings.Repeat("a", 64), URL: "https://example.com/six"},
		{File: "Flask-3.0.0-py3-none-any.whl", SHA256: strings.Repeat("b", 64), URL: "https://example.com/flask"},
	}}
}

// Change the tag here only together with the format.
func TestTag(t *testing.T) {
	const want = "e-7e182d7661baee50d0f7f68118ad3aa3776ec870"
	if got := tagOf(t, exampleEnv()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, change := range map[string]func(e *image.Env){
		"another spelling of the base": func(e *image.Env) { e.Base = "index.docker.io/library/python:3.12-slim" },
		"another order":                func(e *image.Env) { e.Wheels[0], e.Wheels[1] = e.Wheels[1], e.Wheels[0] },
		"another place of a wheel":     func(e *image.Env) { e.Wheels[0].URL, e.Wheels[0].Path, e.Wheels[0].Size = "", "/x", 5 },
	} {
		e := exampleEnv()
		change(&e)
		if got := tagOf(t, e); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	seen := map[string]string{want: "the same"}
	for name, change := range map[string]func(e *image.Env){
		"base":     func(e *image.Env) { e.Base = "python:3.12" },
		"digest":   func(e *image.Env) { e.Base += "@sha256:" + strings.Repeat("0", 64) },
		"arch":     func(e *image.Env) { e.Arch = "arm64" },
		"prefix":   func(e *image.Env) { e.Layout.Prefix = "opt/other" },
		"python":   func(e *image.Env) { e.Layout.Python = "3.13" },
		"bytecode": func(e *image.Env) { e.Bytecode = false },
		"sha":      func(e *image.Env) { e.Wheels[1].SHA256 = strings.Repeat("c", 64) },
		"fewer":    func(e *image.Env) { e.Wheels = e.Wheels[1:] },
		"name":     func(e *image.Env) { e.Wheels[0].File = "seven-1.16.0-py2.py3-none-any.whl" },
	} {
		e := exampleEnv()
		change(&e)
		tag := tagOf(t, e)
		if other, ok := seen[tag]; ok {
			t.Errorf("%s: the tag is that of %s", name, other)
		}
		seen[tag] = name
	}
}

func TestEnvironmentsThatCannotBe(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(e *image.Env)
		want   string
	}{
		"base":      {func(e *image.Env) { e.Base = "Python" }, "the base image Python: could not parse reference"},
		"file":      {func(e *image.Env) { e.Wheels[0].File = "six.tar.gz" }, `"six.tar.gz" is not the file name of a wheel`},
		"hash":      {func(e *image.Env) { e.Wheels[0].SHA256 = "ABC" }, `six-1.16.0-py2.py3-none-any.whl: "ABC" is not a SHA-256`},
		"no place":  {func(e *image.Env) { e.Wheels[0].URL = "" }, "six-1.16.0-py2.py3-none-any.whl: neither a URL nor a file to read it from is known"},
		"two of it": {func(e *image.Env) { e.Wheels[1].File = "SIX-2-py3-none-any.whl" }, "are of one project: an environment has one version of each"},
	} {
		e := exampleEnv()
		tt.change(&e)
		if tag, err := e.Tag(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %s, err = %v, want %q in it", name, tag, err, tt.want)
		}
	}
}
