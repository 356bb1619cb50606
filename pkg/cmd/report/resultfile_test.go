package report

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Two commands that write one file don't disturb each other: the last one to finish wins.
func TestResultFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "result.json")
	if err := os.WriteFile(name, []byte("an earlier, longer result"), 0o640); err != nil {
		t.Fatal(err)
	}
	files := map[string]*resultFile{"first": {name: name}, "second": {name: name}}
	for text, file := range files {
		if _, err := io.WriteString(file, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"second", "first"} {
		if err := files[text].complete(); err != nil {
			t.Fatal(err)
		}
		files[text].discard()
		got, err := os.ReadFile(name)
		if err != nil || string(got) != text {
			t.Errorf("got %q, %v; want %q", got, err, text)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	abandoned := &resultFile{name: name}
	if _, err := io.WriteString(abandoned, "half"); err != nil {
		t.Fatal(err)
	}
	abandoned.discard()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
}
