package pack_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

func TestSpecialFilesAreSkipped(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a": "x", "null -> /dev/null": "", "ignored": ""})
	for _, name := range []string{"pipe", "ignored pipe"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := plan(t, pack.Options{Root: root, Ignore: func(rel string, _ bool) bool { return rel == "ignored" || rel == "ignored pipe" }})
	if diff := cmp.Diff([]string{"a"}, paths(p)); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	want := []string{`skipped "null": it is a device, not a regular file`, `skipped "pipe": it is a named pipe, not a regular file`}
	if diff := cmp.Diff(want, p.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// /proc/self/mem is a regular file that no one, not even root, can read from
// its beginning.
func TestFileThatCannotBeRead(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a": "x", "d/mem -> /proc/self/mem": ""})
	_, err := pack.New(t.Context(), pack.Options{Root: root})
	fileError(t, err, "d/mem", "make it readable")
}

func TestNameWithABackslash(t *testing.T) {
	for name, file := range map[string]string{"a file": `d/a\b`, "a directory": `d/a\b/`, "a file below one": `d/a\b/c`} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, map[string]string{file: "x"})
			_, err := pack.New(t.Context(), pack.Options{Root: root})
			fileError(t, err, `d/a\b`, `cannot package "d/a\\b": its name has a backslash: rename it`)
			plan(t, pack.Options{Root: root, Ignore: func(rel string, _ bool) bool { return rel == `d/a\b` }})
		})
	}
}

func TestNameThatIsNotUTF8(t *testing.T) {
	for name, file := range map[string]string{"a file": "d/b\xff", "a directory": "d/b\xff/", "a link to a directory": "d/b\xff -> ."} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, map[string]string{file: "x"})
			_, err := pack.New(t.Context(), pack.Options{Root: root})
			fileError(t, err, "d/b\xff", `cannot package "d/b\xff": its name is not UTF-8: rename it`)
			plan(t, pack.Options{Root: root, Ignore: func(rel string, _ bool) bool { return rel == "d/b\xff" }})
		})
	}
}
