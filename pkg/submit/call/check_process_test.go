package call

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCheckReadsLargeFiles(t *testing.T) {
	source := strings.Repeat("x = [1, 2, 3]\n", 5_000) + "def f(a): pass\n"
	_, err := Check(t.Context(), python(t), query(t, source))
	if err == nil || !strings.Contains(err.Error(), "add --arg a=…") {
		t.Errorf("got %v", err)
	}
}

func TestCheckImportsNothing(t *testing.T) {
	q := query(t, "open('ran', 'w')\nimport neighbour\ndef f(): pass\n")
	dir := filepath.Dir(q.Path)
	t.Chdir(dir)
	if err := os.WriteFile("neighbour.py", []byte("open('ran', 'w')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", dir)
	if _, err := Check(t.Context(), python(t), q); err != nil {
		t.Fatal(err)
	}
	if isFile("ran") {
		t.Error("the file was run")
	}
}

func TestCheckWithoutAnAnswer(t *testing.T) {
	script := func(t *testing.T, text string) string {
		path := filepath.Join(t.TempDir(), "python3")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct{ text, want string }{
		"a crash":                {"cat >/dev/null; echo 'first' >&2; echo 'ImportError: no ast' >&2; exit 1\n", "exit status 1: ImportError: no ast"},
		"a crash without a word": {"exit 127\n", "exit status 127"},
		"chatter":                {"cat >/dev/null; echo hello\n", "did not answer with JSON"},
		"another version":        {`cat >/dev/null; echo '{"outcome":"maybe"}'` + "\n", `answered "maybe"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Check(t.Context(), script(t, tt.text), query(t, "def f(): pass\n"))
			if err != nil || !strings.HasPrefix(got.Unchecked, "train.py:f is not checked: ") || !strings.Contains(got.Unchecked, tt.want) {
				t.Errorf("got %+v, %v, want unchecked because of %q", got, err, tt.want)
			}
		})
	}
	t.Run("no python", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		got, err := Check(t.Context(), "python3", query(t, "def f(:\n"))
		if err != nil || got.Unchecked != "train.py:f is not checked: python3 is not on PATH" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("it hangs", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		got, err := Check(ctx, script(t, "exec tail -f /dev/null\n"), query(t, "def f(): pass\n"))
		if err != nil || !strings.Contains(got.Unchecked, "did not answer in time") {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Check(ctx, "python3", query(t, "def f(): pass\n")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no file", func(t *testing.T) {
		q := Query{Path: filepath.Join(t.TempDir(), "gone.py"), Name: "gone.py", Function: "f"}
		if _, err := Check(t.Context(), "python3", q); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}
