package jobs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestPackageRoot(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a", "train.py"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, submitted, cwd, want string }{
		"submitted at the root":         {"a/train.py", "", ".", root},
		"submitted below it":            {"a/train.py", "a/b", "a/b", root},
		"seen from somewhere else":      {"a/train.py", "a/b", "a", ""},
		"seen from another project":     {"other.py", "", ".", ""},
		"a module, which names no file": {"", "a", "a", root},
		"a module, from somewhere else": {"", "a/b", "a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := packageRoot(api.Call{File: c.file, Cwd: c.submitted}, filepath.Join(root, c.cwd)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPortTaken(t *testing.T) {
	l, err := listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen(n); err == nil || !strings.Contains(err.Error(), "--port "+port+": already in use on this machine") {
		t.Errorf("got %v", err)
	}
}
