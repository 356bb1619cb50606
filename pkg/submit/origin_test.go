package submit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindOrigin(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
	root := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when, commit string, dirty bool) {
		t.Helper()
		if o := findOrigin(t.Context(), root); o.Commit != commit || o.Dirty != dirty || o.User == "" {
			t.Errorf("%s: got %+v, want commit %q, dirty %v, and a user", when, o, commit, dirty)
		}
	}
	check("no repository", "", false)
	git("init", "-q")
	write("train.py")
	check("no commit", "", false)
	git("add", ".")
	git("commit", "-qm", "one")
	commit := git("rev-parse", "HEAD")
	check("all committed", commit, false)
	write("new.py")
	check("a new file", commit, true)
}
