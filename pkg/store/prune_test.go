package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDeleteRemovesDirectoriesWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenFile(FileScheme + dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"job-1/handle.json", "job-2/handle.json", "job-2/logs/0/1-1.log", "job-2/outputs/model.json", "job-3/call.json", "job-3/handle.json"} {
		if err := s.Create(t.Context(), name, strings.NewReader("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"job-1", "job-3"} {
		if err := os.MkdirAll(filepath.Join(dir, id, "outputs", "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"job-1/handle.json", "job-2/handle.json", "job-2/logs/0/1-1.log", "job-3/call.json"} {
		if err := s.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for _, empty := range []string{"job-1", "job-2/logs"} {
		if _, err := os.Stat(filepath.Join(dir, empty)); !os.IsNotExist(err) {
			t.Errorf("%s, which has empty directories only, is still there: %v", empty, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "job-3", "outputs", "deep")); err != nil {
		t.Errorf("the output directory of a job that is still there went: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "job-2", "outputs", "model.json")); err != nil {
		t.Errorf("an output went with the rest: %v", err)
	}
	for _, name := range []string{"job-2/outputs/model.json", "job-3/handle.json"} {
		if err := s.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 1 { // what is being written has a directory
		t.Errorf("left %v, %v, want the store itself", left, err)
	}
}
