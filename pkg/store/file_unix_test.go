//go:build unix

package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestOnlyTheOwnerCanRead(t *testing.T) {
	s, dir := openStore(t)
	create(t, s, "job/logs/x", "x")
	if err := putBlob(t, "abc", "abc")(s); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A link is deleted before its target and after it, but not if either was changed since it was listed.
func TestDeleteListedLinks(t *testing.T) {
	s, dir := openStore(t)
	outputs := filepath.Join(dir, "job", "outputs")
	link := func(target, name string) store.Object {
		t.Helper()
		path := filepath.Join(outputs, name)
		if err := os.MkdirAll(outputs, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return one(t, s, "job/outputs/"+name)
	}
	touch := func(age time.Duration) {
		t.Helper()
		then := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(outputs, "step_2.pt"), then, then); err != nil {
			t.Fatal(err)
		}
	}
	create(t, s, "job/outputs/step_2.pt", "12345")
	touch(time.Hour)
	for name, target := range map[string]string{"latest.pt": "step_2.pt", "all": ".", "broken": "nowhere", "absolute": filepath.Join(outputs, "step_2.pt")} {
		if !deleteListed(t, s, link(target, name)) {
			t.Errorf("left %s -> %s", name, target)
		}
	}

	replaced := link("step_1.pt", "latest.pt")
	if err := os.Remove(filepath.Join(outputs, "latest.pt")); err != nil {
		t.Fatal(err)
	}
	link("step_2.pt", "latest.pt")
	if deleteListed(t, s, replaced) {
		t.Error("deleted the link that replaced it")
	}
	latest := one(t, s, "job/outputs/latest.pt")
	touch(time.Minute)
	if deleteListed(t, s, latest) {
		t.Error("deleted a link whose target has changed")
	}
	latest = one(t, s, "job/outputs/latest.pt")
	if !deleteListed(t, s, one(t, s, "job/outputs/step_2.pt")) || !deleteListed(t, s, latest) {
		t.Error("left a link whose target was deleted before")
	}
	if dirs, err := s.Dirs(t.Context(), ""); err != nil || len(dirs) > 0 {
		t.Errorf("after deleting all: %q, %v; want an empty store", dirs, err)
	}
}

// What a job leaves among its outputs need not be a plain file.
func TestOddOutputs(t *testing.T) {
	s, dir := openStore(t)
	create(t, s, "job/outputs/step-1/model", "12345")
	outputs := filepath.Join(dir, "job", "outputs")
	for name, target := range map[string]string{"latest": "step-1", "best": "step-1/model", "broken": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(outputs, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(outputs, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := list(t.Context(), s, "job/", "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range objects {
		names = append(names, strings.TrimPrefix(o.Name, "job/outputs/"))
		if o.Name == "job/outputs/best" && o.Size != 5 {
			t.Errorf("a link to a file has size %d, want the file's", o.Size)
		}
	}
	if diff := cmp.Diff([]string{"best", "broken", "latest", "pipe", "step-1/model"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if _, err := s.Open(t.Context(), "job/outputs/pipe"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("opening a pipe: error %v, want one that says what it is", err)
	}
	for _, o := range objects {
		if err := s.Delete(t.Context(), o.Name); err != nil {
			t.Error(err)
		}
	}
	if dirs, err := s.Dirs(t.Context(), ""); err != nil || len(dirs) > 0 {
		t.Errorf("after deleting all: %q, %v; want an empty store", dirs, err)
	}
}
