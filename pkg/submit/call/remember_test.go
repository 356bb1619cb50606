package call

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// countingPython is a program that answers like a python and says how often it
// was asked. "here" in an answer is its own path.
func countingPython(t *testing.T, answer string) (path string, asked func() int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "python3")
	counter := path + ".count"
	replaceText(t, path, "#!/bin/sh\ncat >/dev/null; echo . >>'"+counter+"'; echo '"+answer+"' | sed \"s|here|$0|\"\n")
	return path, func() int {
		count, _ := os.ReadFile(counter) // none where it was never asked
		return bytes.Count(count, []byte("."))
	}
}

func replaceText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// A python that found nothing wrong is asked again once anything that it said
// that of is another.
func TestFindingsAreRemembered(t *testing.T) {
	const ok = `{"outcome":"ok","executable":"here"}`
	same := func(*testing.T, *Query, string) {}
	for name, tt := range map[string]struct {
		answer string
		change func(t *testing.T, q *Query, python string)
		asked  int
	}{
		"the same":           {ok, same, 1},
		"a decorator":        {`{"outcome":"unsure","why":"a decorator","executable":"here"}`, same, 1},
		"another source":     {ok, func(t *testing.T, q *Query, _ string) { replaceText(t, q.Path, "def f(): return 2") }, 2},
		"other arguments":    {ok, func(_ *testing.T, q *Query, _ string) { q.Args = []string{"x"} }, 2},
		"run by this python": {ok, func(_ *testing.T, q *Query, _ string) { q.Local = true }, 2},
		"another function":   {ok, func(_ *testing.T, q *Query, _ string) { q.Function = "g" }, 2},
		"another python": {ok, func(t *testing.T, _ *Query, python string) {
			text, err := os.ReadFile(python)
			if err != nil {
				t.Fatal(err)
			}
			replaceText(t, python, string(text)+"# newer")
		}, 2},
		"a damaged memory":    {ok, func(t *testing.T, q *Query, _ string) { replaceText(t, q.memoryFile(), `{"Question":`) }, 2},
		"nowhere to remember": {ok, func(_ *testing.T, q *Query, _ string) { q.CacheDir = "" }, 2},
		"a shim":              {`{"outcome":"ok","executable":"/elsewhere/python3"}`, same, 1},
		"a shim that runs it": {`{"outcome":"ok","executable":"/elsewhere/python3"}`, same, 2},
		"a python that does":  {ok, same, 1},
		"not checked":         {`{"outcome":"newer","why":"it is newer","executable":"here"}`, same, 2},
		"a mistake":           {`{"outcome":"missing","executable":"here"}`, same, 2},
	} {
		t.Run(name, func(t *testing.T) {
			python, asked := countingPython(t, tt.answer)
			q := query(t, "def f(): return 1")
			q.Local = name == "a shim that runs it" || name == "a python that does"
			q.CacheDir = filepath.Join(t.TempDir(), "cache")
			first, firstErr := Check(t.Context(), python, q)
			tt.change(t, &q, python)
			second, secondErr := Check(t.Context(), python, q)
			if asked() != tt.asked {
				t.Errorf("python was asked %d times, want %d", asked(), tt.asked)
			}
			if unchanged := slices.Contains([]string{"the same", "a decorator", "a shim"}, name); unchanged && !reflect.DeepEqual(first, second) {
				t.Errorf("found %+v, then %+v", first, second)
			}
			if (firstErr != nil) != (name == "a mistake") || (secondErr != nil) != (firstErr != nil) {
				t.Errorf("got %v, then %v", firstErr, secondErr)
			}
		})
	}
}

// After an edit, the interpreter that a shim led to is asked, and the shim if that one
// finds a mistake, is gone, or was not found by the same name.
func TestInterpreterBehindAShimIsAsked(t *testing.T) {
	const ok, missing = `{"outcome":"ok","executable":"here"}`, `{"outcome":"missing","executable":"here"}`
	for name, tt := range map[string]struct {
		answer       string
		change       func(t *testing.T, q *Query, behind string)
		shim, behind int
	}{
		"an edit":          {ok, func(*testing.T, *Query, string) {}, 1, 1},
		"a mistake":        {missing, func(*testing.T, *Query, string) {}, 2, 1},
		"not checked":      {`{"outcome":"newer","why":"it is newer"}`, func(*testing.T, *Query, string) {}, 2, 1},
		"it is gone":       {ok, func(t *testing.T, _ *Query, behind string) { removeFile(t, behind) }, 2, 0},
		"local":            {ok, func(_ *testing.T, q *Query, _ string) { q.Local = true }, 2, 0},
		"another function": {ok, func(_ *testing.T, q *Query, _ string) { q.Function = "g" }, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			behind, askedBehind := countingPython(t, tt.answer)
			shim, askedShim := countingPython(t, `{"outcome":"ok","executable":"`+behind+`"}`)
			q := query(t, "def f(): return 1")
			q.CacheDir = filepath.Join(t.TempDir(), "cache")
			if _, err := Check(t.Context(), shim, q); err != nil {
				t.Fatal(err)
			}
			replaceText(t, q.Path, "def f(): return 2")
			tt.change(t, &q, behind)
			if found, err := Check(t.Context(), shim, q); err != nil || found.Python != behind || found.Unchecked != "" {
				t.Errorf("found %+v, %v", found, err)
			}
			if askedShim() != tt.shim || askedBehind() != tt.behind {
				t.Errorf("asked the shim %d times, want %d, and the other %d, want %d", askedShim(), tt.shim, askedBehind(), tt.behind)
			}
		})
	}
	t.Run("another shim", func(t *testing.T) {
		behind, askedBehind := countingPython(t, ok)
		q := query(t, "def f(): return 1")
		q.CacheDir = filepath.Join(t.TempDir(), "cache")
		for i := range 2 {
			shim, asked := countingPython(t, `{"outcome":"ok","executable":"`+behind+`"}`)
			if _, err := Check(t.Context(), shim, q); err != nil || asked() != 1 || askedBehind() != 0 {
				t.Errorf("shim %d was asked %d times, the other %d, %v", i, asked(), askedBehind(), err)
			}
		}
	})
}

func removeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
