package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestOpen(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1") // nothing asks it
	for url, want := range map[string]struct{ url, err string }{
		"file:///tmp//x/":   {url: "file:///tmp/x"},
		"gs://acme":         {url: "gs://acme"},
		"gs://acme/":        {url: "gs://acme"},
		"gs://acme/team/a/": {url: "gs://acme/team/a"},
		"gs://":             {err: "expected gs://BUCKET"},
		"gs:///x":           {err: "expected gs://BUCKET"},
		"gs://acme/a//b":    {err: "separated by single slashes"},
		"gs://acme/../b":    {err: "separated by single slashes"},
		"file://x":          {err: "not an absolute path"},
		"s3://acme":         {err: `store "s3://acme": expected gs://BUCKET, gs://BUCKET/PREFIX or file:///DIR`},
		"":                  {err: "expected gs://BUCKET"},
	} {
		s, err := store.Open(url)
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("Open(%q): error %v, want one with %q", url, err, want.err)
			}
			continue
		}
		if err != nil || s.URL() != want.url {
			t.Errorf("Open(%q) = %v, %v; want %s", url, s, err, want.url)
			continue
		}
		if err := s.Close(); err != nil {
			t.Errorf("close %s unused: %v", url, err)
		}
	}
}

func TestCreate(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		create(t, s, "job/handle.json", "one")
		create(t, s, "job/empty", "")
		err := s.Create(t.Context(), "job/handle.json", strings.NewReader("two"), nil)
		if !errors.Is(err, store.ErrExists) || !strings.Contains(err.Error(), s.URL()+"/job/handle.json already exists") {
			t.Errorf("second Create: error %v, want ErrExists with the full name", err)
		}
		if got := read(t, s, "job/handle.json"); got != "one" {
			t.Errorf("read %q, want the first object", got)
		}
		if got := read(t, s, "job/empty"); got != "" {
			t.Errorf("read %q, want nothing", got)
		}
		if kept := p.holds(); len(kept) != 2 {
			t.Errorf("kept: %q, want two objects", kept)
		}
		for _, name := range []string{"", "/x", "../x", "a/../b", "a//b", "a/", ".", "a\x00b"} {
			if err := s.Create(t.Context(), name, strings.NewReader("x"), nil); err == nil || !strings.Contains(err.Error(), "object name") {
				t.Errorf("Create(%q): error %v, want one about the object name", name, err)
			}
		}
	})
}

func TestCreateHasOneWinner(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		var wg sync.WaitGroup
		errs := make([]error, 16)
		for i := range errs {
			// The same bytes: who wrote them, one alone has made the object.
			wg.Go(func() { errs[i] = s.Create(t.Context(), "job/end.json", strings.NewReader("{}"), nil) })
		}
		wg.Wait()
		var winners int
		for i, err := range errs {
			switch {
			case err == nil:
				winners++
			case !errors.Is(err, store.ErrExists):
				t.Errorf("Create %d: %v", i, err)
			}
		}
		if winners != 1 {
			t.Errorf("%d of %d succeeded, want 1", winners, len(errs))
		}
	})
}

func TestFailedWritesLeaveNothing(t *testing.T) {
	broken := errors.New("the source broke")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	large := strings.Repeat("x", store.Part) + "tail"
	reader := func() io.Reader { return io.MultiReader(strings.NewReader("abc"), &failing{broken}) }
	putReader := func(promised string, r io.Reader) func(store.Store) error {
		return func(s store.Store) error {
			_, err := s.PutBlob(t.Context(), hash(promised), int64(len(promised)), func() (io.ReadCloser, error) { return io.NopCloser(r), nil })
			return err
		}
	}
	for name, write := range map[string]struct {
		do   func(s store.Store) error
		want error
	}{
		"Create, reader fails": {want: broken, do: func(s store.Store) error { return s.Create(t.Context(), "j/a", reader(), nil) }},
		"Create, cancelled":    {want: context.Canceled, do: func(s store.Store) error { return s.Create(cancelled, "j/a", strings.NewReader("abc"), nil) }},
		"PutBlob, open fails": {want: broken, do: func(s store.Store) error {
			_, err := s.PutBlob(t.Context(), hash("abc"), 3, func() (io.ReadCloser, error) { return nil, broken })
			return err
		}},
		"PutBlob, reader fails": {want: broken, do: putReader("abc", &failing{broken})},
		"PutBlob, reader fails late": {want: broken,
			do: putReader(large, io.MultiReader(strings.NewReader(large[:store.Chunk+1]), &failing{broken}))},
		"PutBlob, other bytes":       {want: store.ErrMismatch, do: putBlob(t, "abc", "abd")},
		"PutBlob, too few bytes":     {want: store.ErrMismatch, do: putBlob(t, "abc", "ab")},
		"PutBlob, too many":          {want: store.ErrMismatch, do: putBlob(t, "abc", "abcd")},
		"PutBlob, other large bytes": {want: store.ErrMismatch, do: putBlob(t, large, large[:len(large)-1]+"L")},
		"CreateLarge, open fails": {want: broken, do: func(s store.Store) error {
			return s.CreateLarge(t.Context(), "j/a", hash("abc"), 3, func() (io.ReadCloser, error) { return nil, broken })
		}},
		"CreateLarge, other bytes":       {want: store.ErrMismatch, do: createLarge(t, "abc", "abd")},
		"CreateLarge, too few bytes":     {want: store.ErrMismatch, do: createLarge(t, "abc", "ab")},
		"CreateLarge, other large bytes": {want: store.ErrMismatch, do: createLarge(t, large, large[:len(large)-1]+"L")},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryStore(t, func(t *testing.T, p place) {
				if err := write.do(p.open()); !errors.Is(err, write.want) {
					t.Errorf("error %v, want %v", err, write.want)
				}
				if left := p.holds(); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
			})
		})
	}
}

func TestPutBlobReadsOnlyWhatIsMissing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		for i, text := range []string{"abc", "", strings.Repeat("x", store.Chunk), strings.Repeat("x", store.Part), strings.Repeat("x", store.Part+1)} {
			for _, want := range []bool{true, false} {
				var calls int
				written, err := p.open().PutBlob(t.Context(), hash(text), int64(len(text)), opener(text, &calls))
				if err != nil || written != want || (calls == 1) != want {
					t.Errorf("blob %d: written %v, open called %d times, error %v; want written %v", i, written, calls, err, want)
				}
			}
			if got := read(t, p.open(), store.Blob(hash(text))); got != text {
				t.Errorf("blob %d: read %d bytes, want the %d written", i, len(got), len(text))
			}
		}
	})
}

func TestPutBlobFromManySides(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		text := strings.Repeat("weights", 100_000)
		var wg sync.WaitGroup
		for range 8 {
			s := p.open()
			wg.Go(func() {
				if err := putBlob(t, text, text)(s); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff([]string{store.Blob(hash(text))}, names(t, p.open(), "")); diff != "" {
			t.Errorf("objects (-want +got):\n%s", diff)
		}
	})
}

func TestOpenMissing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		missing := func(name string) {
			t.Helper()
			_, err := s.Open(t.Context(), name)
			if !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), s.URL()+"/"+name) {
				t.Errorf("Open(%q): error %v, want ErrNotFound with the full name", name, err)
			}
		}
		missing("job/result.json") // there is nothing yet
		create(t, s, "job/handle.json", "x")
		missing("job/result.json")
		missing("job") // a directory is no object
		missing("job/handle.json/end.json")
	})
}

func TestList(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		if got := names(t, s, ""); len(got) > 0 {
			t.Fatalf("an empty store: %q, want nothing", got)
		}
		for _, name := range []string{"a/x", "a-b/handle.json", "a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log", "a/logs2/x", "b/outputs/.tmp/ü x%2F"} {
			create(t, s, name, name)
		}
		for prefix, want := range map[string][]string{
			"":            {"a-b/handle.json", "a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log", "a/logs2/x", "a/x", "b/outputs/.tmp/ü x%2F"},
			"a/logs/":     {"a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log"},
			"a/logs/0/1-": {"a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log"},
			"a/log":       {"a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log", "a/logs2/x"},
			"a":           {"a-b/handle.json", "a/logs/0/1-1.log", "a/logs/0/1-10.log", "a/logs/0/1-2.log", "a/logs2/x", "a/x"},
			"a/x":         {"a/x"},
			"a/x/":        nil,
			"c/":          nil,
		} {
			objects, err := list(t.Context(), s, prefix, "")
			if err != nil {
				t.Errorf("List(%q): %v", prefix, err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, o.Name)
				if o.Size != int64(len(o.Name)) || o.Updated.IsZero() || len(o.Metadata) > 0 {
					t.Errorf("List(%q): %+v, want size %d, a time and no metadata", prefix, o, len(o.Name))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("List(%q) (-want +got):\n%s", prefix, diff)
			}
		}
		for start, want := range map[string][]string{
			"a/logs/0/1-10.log": {"a/logs/0/1-10.log", "a/logs/0/1-2.log"}, "a/logs/0/1-11": {"a/logs/0/1-2.log"}, "a/logs/1": nil, "a": names(t, s, "a/logs/"),
		} {
			objects, err := list(t.Context(), s, "a/logs/", start)
			var got []string
			for _, o := range objects {
				got = append(got, o.Name)
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("from %q on: %v (-want +got):\n%s", start, err, diff)
			}
		}
		for _, err := range s.List(t.Context(), "", "") {
			if err != nil {
				t.Error(err)
			}
			break // a reader that has enough
		}
		create(t, s, "stray", "no directory")
		dirs, err := s.Dirs(t.Context(), "")
		if diff := cmp.Diff([]string{"a", "a-b", "b"}, dirs); diff != "" || err != nil {
			t.Errorf("Dirs(): %v (-want +got):\n%s", err, diff)
		}
		dirs, err = s.Dirs(t.Context(), "a-")
		if diff := cmp.Diff([]string{"a-b"}, dirs); diff != "" || err != nil {
			t.Errorf("Dirs(a-): %v (-want +got):\n%s", err, diff)
		}
	})
}

func TestCopy(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		create(t, s, "old/results/0.json", "1")
		copied := func(name, old string) error {
			return store.Copy(t.Context(), s, name, p.open(), old, map[string]string{"ok": "true"})
		}
		if err := copied("new/results/0.json", "old/results/0.json"); err != nil {
			t.Fatal(err)
		}
		if got := read(t, s, "new/results/0.json"); got != "1" {
			t.Errorf("got %q", got)
		}
		create(t, s, "new/results/1.json", "2")
		if err := copied("new/results/1.json", "old/results/0.json"); !errors.Is(err, store.ErrExists) {
			t.Errorf("over another object: %v", err)
		}
		if err := copied("new/results/2.json", "old/results/7.json"); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "old/results/7.json") {
			t.Errorf("of none: %v", err)
		}
		if err := copied("../x", "old/results/0.json"); err == nil {
			t.Error("no error for a name outside")
		}
		if got := read(t, s, "new/results/1.json"); got != "2" {
			t.Errorf("replaced by %q", got)
		}
	})
}

func TestDelete(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		if err := s.Delete(t.Context(), "job/x"); err != nil {
			t.Fatalf("before there is anything: %v", err)
		}
		if err := s.Delete(t.Context(), ""); err == nil {
			t.Error("an empty name: no error")
		}
		create(t, s, "job/logs/0/1-1.log", "x")
		create(t, s, "job/handle.json", "x")
		for _, name := range []string{"job", "job/logs"} { // directories are no objects
			if err := s.Delete(t.Context(), name); err != nil {
				t.Errorf("Delete(%q): %v", name, err)
			}
		}
		if diff := cmp.Diff([]string{"job/handle.json", "job/logs/0/1-1.log"}, names(t, s, "")); diff != "" {
			t.Fatalf("after deleting directories (-want +got):\n%s", diff)
		}
		for _, name := range []string{"job/logs/0/1-1.log", "job/handle.json", "job/handle.json"} {
			if err := s.Delete(t.Context(), name); err != nil {
				t.Errorf("Delete(%q): %v", name, err)
			}
		}
		if dirs, err := s.Dirs(t.Context(), ""); err != nil || len(dirs) > 0 {
			t.Errorf("Dirs() = %q, %v; want none", dirs, err)
		}
	})
}

func TestDeleteAll(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		for _, name := range []string{"job/x", "job/y", "job/z"} {
			create(t, s, name, "x")
		}
		var told []int
		err := store.DeleteAll(t.Context(), s, []string{"job/x", "job/z"}, func(done, total int) { told = append(told, done, total) })
		if diff := cmp.Diff([]int{1, 2, 2, 2}, told); err != nil || diff != "" {
			t.Errorf("%v, told: -want +got:\n%s", err, diff)
		}
		if diff := cmp.Diff([]string{"job/y"}, names(t, s, "")); diff != "" {
			t.Errorf("left: -want +got:\n%s", diff)
		}
	})
}

// DeleteAll fails if an object can't be deleted, and does not count it.
func TestDeleteAllTellsWhatFails(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "job/x", "x")
	refused := errors.New("refused")
	told := 0
	err = store.DeleteAll(t.Context(), undeletable{s, "job/y", refused}, []string{"job/x", "job/y"}, func(int, int) { told++ })
	if !errors.Is(err, refused) || told > 1 {
		t.Errorf("got %v, %d objects are said to be deleted", err, told)
	}
	if err := store.DeleteAll(t.Context(), s, nil, func(int, int) { t.Error("told of no object") }); err != nil {
		t.Errorf("without objects: %v", err)
	}
}

// undeletable is a store with an object that can't be deleted.
type undeletable struct {
	store.Store
	name string
	err  error
}

func (s undeletable) Delete(ctx context.Context, name string) error {
	if name == s.name {
		return s.err
	}
	return s.Store.Delete(ctx, name)
}

func TestDeleteDoesNotDisturbCreate(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for range 20 {
					name := fmt.Sprintf("job/logs/%d", i)
					if err := s.Create(t.Context(), name, strings.NewReader("x"), nil); err != nil {
						t.Error(err)
					}
					if err := s.Delete(t.Context(), name); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}
