package resolve_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// TestSteering: whatever decides which versions uv and pip choose is told apart, and nothing else is.
func TestSteering(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("configuration files are elsewhere")
	}
	home := t.TempDir()
	limits := filepath.Join(home, "limits.txt")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of := func(environ ...string) string {
		return strings.Join(resolve.Resolver{Environ: append([]string{}, environ...), Home: home}.Steering(), "\n")
	}
	nothing := of()
	for _, environ := range []string{"UV_CACHE_DIR=/x", "PIP_NO_CACHE_DIR=1", "UV_INDEX_INTERNAL_PASSWORD=secret", "PIP_INDEX_URL=", "VIRTUAL_ENV=/none"} {
		if got := of(environ); got != nothing {
			t.Errorf("%s: %q, want %q", environ, got, nothing)
		}
	}
	seen := []string{nothing}
	differs := func(what, got string) {
		t.Helper()
		if slices.Contains(seen, got) || strings.Contains(got, "secret") {
			t.Errorf("%s: %q", what, got)
		}
		seen = append(seen, got)
	}
	differs("an index", of("PIP_INDEX_URL=https://me:secret@index.example/simple"))
	if of("PIP_INDEX_URL=https://you@index.example/simple") != seen[1] {
		t.Error("other credentials for the same index count")
	}
	differs("a date", of("UV_EXCLUDE_NEWER=2026-01-01"))
	write(limits, "six<2\n")
	differs("a file of constraints", of("PIP_CONSTRAINT="+limits))
	write(limits, "six<3\n")
	differs("the same file, changed", of("PIP_CONSTRAINT="+limits))
	wheel := filepath.Join(home, "links", "six-1-py3-none-any.whl")
	links := []string{"PIP_FIND_LINKS=" + filepath.Dir(wheel), "PIP_FIND_LINKS=file://" + filepath.Dir(wheel), "UV_FIND_LINKS=" + home + "," + filepath.Dir(wheel)}
	for _, text := range []string{"one", "two"} {
		write(wheel, text)
		differs("a wheel in a directory of links: "+text, of(links[0]))
		if of(links[1]) != of(links[0]) {
			t.Error("a directory is another one by its URL")
		}
		differs("one of several directories: "+text, of(links[2]))
	}
	write(filepath.Join(home, ".config", "pip", "pip.conf"), "[global]\nindex-url = https://me:secret@index.example/simple\n")
	differs("pip's configuration", of())
	write(filepath.Join(home, ".config", "pip", "pip.conf"), "[global]\nindex-url = https://you:hidden@index.example/simple\n")
	if of() != seen[len(seen)-1] {
		t.Error("other credentials for the index of pip's configuration count")
	}
	write(filepath.Join(home, "xdg", "uv", "uv.toml"), "prerelease = \"allow\"\n")
	differs("uv's configuration, elsewhere", of("XDG_CONFIG_HOME="+filepath.Join(home, "xdg")))
	write(filepath.Join(home, "venv", "pip.conf"), "[global]\npre = true\n")
	differs("the configuration of a virtual environment", of("VIRTUAL_ENV="+filepath.Join(home, "venv")))
}
