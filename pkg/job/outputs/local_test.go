//go:build unix

package outputs

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// localJob returns the outputs of a local job, and their directory with some files.
func localJob(t *testing.T, files ...string) (*Dir, string) {
	t.Helper()
	top := t.TempDir()
	s, err := store.OpenFile("file://" + top)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if err := s.Create(t.Context(), store.Outputs("a1")+name, strings.NewReader("content"), nil); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := Of(&job.Job{Handle: api.Handle{JobID: "a1"}, Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(top, filepath.FromSlash(store.Outputs("a1")))
}

// TestNoOutputs: what can't be opened is no output. A link out of the directory is the file that it leads to.
func TestNoOutputs(t *testing.T) {
	dir, at := localJob(t, "a")
	if err := errors.Join(syscall.Mkfifo(filepath.Join(at, "pipe"), 0o600), os.Symlink("/etc/passwd", filepath.Join(at, "out")), os.Symlink("a", filepath.Join(at, "latest"))); err != nil {
		t.Fatal(err)
	}
	files, err := dir.List(t.Context(), "")
	if err != nil || len(files) != 3 || files[0].Name != "a" || files[1].Link != "a" || files[2].Link != "" {
		t.Errorf("got %v, %v", files, err)
	}
	if copied := copyLinked(t, dir, t.TempDir()); copied.Files != 3 {
		t.Errorf("got %+v", copied)
	}
}

// TestCopyWhileWritten: a log is copied as it was listed, and a file that changes keeps no other one from being copied.
func TestCopyWhileWritten(t *testing.T) {
	dir, at := localJob(t, "a", "train.log", "model.pt")
	files, err := dir.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"train.log", "model.pt"} {
		if err := os.WriteFile(filepath.Join(at, name), []byte("content and more"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := Below(files, "")
	if err != nil {
		t.Fatal(err)
	}
	target := t.TempDir()
	folder, err := os.OpenRoot(target)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	copied, err := dir.Copy(t.Context(), plan, folder, func(int64) {})
	if err == nil || !strings.Contains(err.Error(), "output model.pt has 16 bytes instead of the 7 listed") || copied.Files != 2 {
		t.Errorf("copied %+v, %v", copied, err)
	}
	left, err := os.ReadDir(target)
	if err != nil || len(left) != 2 || left[0].Name() != "a" || left[1].Name() != "train.log" {
		t.Errorf("the folder has %v, %v", left, err)
	}
	if text, err := os.ReadFile(filepath.Join(target, "train.log")); err != nil || string(text) != "content" {
		t.Errorf("the log is %q, %v", text, err)
	}
}

// TestLogs: the runner and this package have the same names for logs.
func TestLogs(t *testing.T) {
	text, err := os.ReadFile("../../../runner/kinetic_runner/outputs/tree.py")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^LOG = re.compile\(r"(.*)"\)`).FindSubmatch(text)
	if found == nil || "^(?:"+string(found[1])+")$" != lazyregexp.Of(log).String() {
		t.Errorf("the runner has %s, and this package %s", found, lazyregexp.Of(log))
	}
}
