package call

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

func TestCheckReadsLargeFiles(t *testing.T) {
	source := strings.Repeat("x = [1, 2, 3]\n", 5_000) + "def f(a): pass\n"
	_, err := Check(t.Context(), python(t), query(t, source))
	if err == nil || !strings.Contains(err.Error(), "add --arg a=…") {
		t.Errorf("got %v", err)
	}
}

// An input of a map can have any names, and a function that takes every name takes them.
func TestCheckPassesAnyName(t *testing.T) {
	names := []string{"", " ", "a b", "a,b", "\n", "\x00", `"\`, "größe", "名前", "😀", "\ufffd"}
	q := query(t, "def f(größe, **kw): pass\n")
	q.Forms = []Form{{Line: 1, Names: names}}
	if got, err := Check(t.Context(), python(t), q); err != nil || got.Python == "" || got.LeftToPod != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, name := range names {
		q := query(t, "def f(): pass\n")
		q.Forms = []Form{{Line: 1, Names: []string{name}}}
		if _, err := Check(t.Context(), python(t), q); err == nil || !strings.HasSuffix(err.Error(), "it has no parameter "+name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The script writes its answers itself: importing json would take longer than everything else.
func TestCheckWritesJSON(t *testing.T) {
	functions, isWhole := strings.CutSuffix(checkScript, "\nmain()\n")
	if !isWhole {
		t.Fatal("check.py does not end with main()")
	}
	const compare = `
import json
characters = list(map(chr, [*range(0x10000), 0x10000, 0x1f600, 0x10ffff]))
for value in [*characters, "", [], {}, "None", None, 0, -1, 12345678901234567890, ["a", None, [1, {}]], {"a": {"\"": ["\\"]}, "é": 1}]:
    written = to_json(value).encode()
    assert json.loads(written) == json.loads(json.dumps(value)) == value, (value, written)
`
	run(t, python(t), "-I", "-S", "-c", functions+compare)
}

// What a file says arrives as it is; Go has no lone surrogates, so there it is U+FFFD.
func TestCheckAnswersWithAnyText(t *testing.T) {
	source := `import kinetic
@kinetic.run(accelerator="\x00\n\x1f\x7f'\"\\/<é\u2028\ud800-\udfff😀")
def f(): pass
`
	found, err := Check(t.Context(), python(t), query(t, source))
	if err != nil {
		t.Fatal(err)
	}
	const want = "\x00\n\x1f\x7f'\"\\/<é\u2028\ufffd-\ufffd😀"
	if len(found.Decorator) != 1 || *found.Decorator[0].Value != want {
		t.Errorf("got %+v, want %q", found.Decorator, want)
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
	if platform.IsFile("ran") {
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
