package pack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

func uploadTree(t testing.TB, set *pack.Set, s store.Store) pack.Stats {
	t.Helper()
	stats, err := set.UploadTree(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func TestTreeRoundTrip(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"a.txt": "a", "a/b/deep": "x", "a-b": "between", "empty/": "", "half/empty/": "", "none": "", "up\\slash ü": "u",
		"a/up -> ../a.txt": "", "a/top -> ..": "", "broken -> no/where": "",
	})
	b := storetest.NewBucket(t)
	data, s := set(t, pack.Options{Root: root}), b.Open(t)
	var done int64
	stats, err := data.UploadTree(t.Context(), s, func(more int64) { done += more })
	if err != nil || stats.NewBlobs != 10 || stats.NewBytes != data.Bytes || done != data.Bytes {
		t.Errorf("%+v with %d bytes of progress, error %v; want 10 objects of %d bytes", stats, done, err, data.Bytes)
	}
	want := map[string]string{
		"a.txt": "a", "a/b/deep": "x", "a-b": "between", "empty/": "", "half/empty/": "", "none": "", "up\\slash ü": "u",
		"a/up": "-> ../a.txt", "a/top": "-> ..", "broken": "-> no/where",
	}
	if diff := cmp.Diff(want, treeIn(t, b, data.SHA256)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	record, err := b.Fake.GetObject(storetest.BucketName, storetest.Prefix+store.DataRecord(data.SHA256))
	if text := fmt.Sprintf(`{"version":1,"files":%d,"bytes":%d}`+"\n", data.Files, data.Bytes); err != nil || string(record.Content) != text {
		t.Errorf("the record %q, error %v; want %q", record.Content, err, text)
	}
	if n := countRequests(b, func() { stats = uploadTree(t, data, s) }); n != 2 || stats.NewBlobs != 0 {
		t.Errorf("the second time: %d requests, %+v; want two, and nothing new", n, stats)
	}
}

func TestTreeOfOneFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"v3.h5": "weights", "latest.h5 -> v3.h5": "", "beside": "no"})
	for _, name := range []string{"v3.h5", "latest.h5"} {
		b := storetest.NewBucket(t)
		data := set(t, pack.Options{Root: filepath.Join(dir, name)})
		uploadTree(t, data, b.Open(t))
		if diff := cmp.Diff(map[string]string{name: "weights"}, treeIn(t, b, data.SHA256)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// What is old is renewed where it is, and what is missing is sent.
func TestTreeThatIsOld(t *testing.T) {
	const (
		day        = 24 * time.Hour
		young, old = 4 * day, 5 * day // records
	)
	for name, tt := range map[string]struct {
		record time.Duration
		file   time.Duration
		gone   string
		sent   int
		renew  bool
	}{
		"the record is young":              {record: young, file: 4 * day},
		"the record is young, a file gone": {record: young, file: 4 * day, gone: "a", sent: 1},
		"the record is old":                {record: old, file: 13 * day},
		"all is old":                       {record: old, file: 15 * day, renew: true},
		"the record is missing":            {gone: ".json", file: 13 * day},
		"it is missing, and files are old": {gone: ".json", file: 15 * day, renew: true},
		"the record is old, a file not":    {record: old, file: 13 * day, gone: "a", sent: 1},
		"a file is old, another gone":      {record: old, file: 15 * day, gone: "a", sent: 1, renew: true},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, map[string]string{"a": "a", "d/l -> ../a": "", "d/f": "f"})
			b := storetest.NewBucket(t)
			data, s := set(t, pack.Options{Root: root}), b.Open(t)
			uploadTree(t, data, s)
			want := treeIn(t, b, data.SHA256)
			age(t, b, tt.record, ".json")
			for _, end := range []string{"/f", "/l"} {
				age(t, b, tt.file, end)
			}
			for _, o := range b.Objects(t, "") {
				if tt.gone != "" && strings.HasSuffix(o.Name, tt.gone) {
					if err := s.Delete(t.Context(), strings.TrimPrefix(o.Name, "team/")); err != nil {
						t.Fatal(err)
					}
				}
			}
			stats := uploadTree(t, data, s)
			if stats.NewBlobs != tt.sent {
				t.Errorf("%+v, want %d sent", stats, tt.sent)
			}
			if diff := cmp.Diff(want, treeIn(t, b, data.SHA256)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, o := range b.Objects(t, "") {
				isOld := time.Since(o.Created) > day
				isFile := strings.HasSuffix(o.Name, "/f") || strings.HasSuffix(o.Name, "/l")
				if keeps := isFile && !tt.renew || strings.HasSuffix(o.Name, ".json") && tt.record == young; isOld != keeps {
					t.Errorf("%s is from %v", o.Name, o.Created)
				}
			}
		})
	}
}

// One listing finds all that is there: no file is asked for or sent by itself.
func TestTreeWithoutItsRecord(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"d/f": "1", "d-x": "2", "d.y": "3", "d0/": "", "e -> d0": "", "ü": "4", "Z": "5"})
	b := storetest.NewBucket(t)
	data, s := set(t, pack.Options{Root: root}), b.Open(t)
	uploadTree(t, data, s)
	if err := s.Delete(t.Context(), store.DataRecord(data.SHA256)); err != nil {
		t.Fatal(err)
	}
	const record, listing, sealing = 1, 1, 2
	if n := countRequests(b, func() { uploadTree(t, data, s) }); n != record+listing+sealing {
		t.Errorf("%d requests, want %d", n, record+listing+sealing)
	}
}

// An upload that was cut off sends the rest only, and has no record before.
func TestInterruptedTree(t *testing.T) {
	root := t.TempDir()
	for i := range 8 {
		randomFile(t, filepath.Join(root, fmt.Sprint(i)), byte(i), 1<<20)
	}
	data := set(t, pack.Options{Root: root})
	for _, at := range []int{1, 4, 8} {
		b := storetest.NewBucket(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		uploads := 0
		b.Before(func(r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/upload/") {
				return
			}
			if uploads++; uploads == at {
				cancel()
			}
			if uploads >= at {
				_, _ = io.CopyN(io.Discard, r.Body, 1<<10)
				panic(http.ErrAbortHandler)
			}
		})
		s := b.Open(t)
		if _, err := data.UploadTree(ctx, s, nil); !errors.Is(err, context.Canceled) {
			t.Fatalf("at %d: error %v, want context.Canceled", at, err)
		}
		b.Intercept(nil)
		before := b.Objects(t, "")
		for _, o := range before {
			if len(before) >= 8 || !strings.HasPrefix(o.Name, storetest.Prefix+store.DataTree(data.SHA256)) {
				t.Errorf("at %d: %s among %d objects, want no record, and not all files", at, o.Name, len(before))
			}
		}
		// A file may still arrive that was sent before the interruption.
		if stats := uploadTree(t, data, s); stats.NewBlobs > 8-len(before) || len(treeIn(t, b, data.SHA256)) != 8 {
			t.Errorf("at %d: %d were there, then %+v", at, len(before), stats)
		}
	}
}

// A file that changes between the plan and the upload is named, and doesn't become an object.
func TestTreeThatChanges(t *testing.T) {
	for name, size := range map[string]int64{"small": 1 << 20, "large": api.Contract.Limits.Part + 5} {
		for change, to := range map[string]func(file string) error{
			"content": func(file string) error {
				f, err := os.OpenFile(file, os.O_WRONLY, 0)
				if err != nil {
					return err
				}
				_, err = f.WriteAt([]byte("changed"), size/2)
				return errors.Join(err, f.Close())
			},
			"longer":  func(file string) error { return os.Truncate(file, size+1) },
			"shorter": func(file string) error { return os.Truncate(file, size-1) },
			"gone":    os.Remove,
		} {
			t.Run(name+" "+change, func(t *testing.T) {
				root := t.TempDir()
				file := filepath.Join(root, "d", "f")
				randomFile(t, file, 1, size)
				b := storetest.NewBucket(t)
				data := set(t, pack.Options{Root: root})
				if err := to(file); err != nil {
					t.Fatal(err)
				}
				_, err := data.UploadTree(t.Context(), b.Open(t), nil)
				fileError(t, err, "d/f", "it changed while it was being packaged: run again")
				if left := b.Objects(t, ""); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

// Two that send the same at once are no harm to each other.
func TestTreeFromTwoSides(t *testing.T) {
	root := t.TempDir()
	for i := range 20 {
		write(t, root, map[string]string{fmt.Sprint(i): fmt.Sprint("file ", i), fmt.Sprintf("l%d -> %[1]d", i): ""})
	}
	b := storetest.NewBucket(t)
	data := set(t, pack.Options{Root: root})
	var wg sync.WaitGroup
	for range 2 {
		s := b.Open(t)
		wg.Go(func() {
			if _, err := data.UploadTree(t.Context(), s, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := treeIn(t, b, data.SHA256)
	if len(got) != 40 || got["7"] != "file 7" || got["l7"] != "-> 7" {
		t.Errorf("%v", got)
	}
}

func TestNamesThatNoBucketHas(t *testing.T) {
	long := strings.Repeat(strings.Repeat("d", 200)+"/", 5) + "f"
	for name, want := range map[string]string{
		"d/not\xffutf8":            `cannot package "d/not\xffutf8": object names in a bucket must be UTF-8: rename it, or omit fuse`,
		"a\nb":                     `cannot package "a\nb": object names in a bucket can't contain line breaks: rename it, or omit fuse`,
		"l\r/":                     "line breaks",
		"link -> no\xffutf8":       `cannot package "link": its target isn't UTF-8, which a bucket can't store: rename it, or omit fuse`,
		long:                       "its name in a bucket would have 1081 bytes, but at most 1024 are allowed",
		"fine -> ..x/../fine":      "",
		"fine é\\ '\"<>*?#[]/.f. ": "",
	} {
		root := t.TempDir()
		write(t, root, map[string]string{name: "x"})
		err := set(t, pack.Options{Root: root}).CheckTree("gs://acme/team")
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", name, err, want)
		}
	}
}

func TestOnlyBucketsHaveTrees(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a": "a"})
	if _, err := set(t, pack.Options{Root: root}).UploadTree(t.Context(), openStore(t), nil); err == nil || !strings.Contains(err.Error(), "only a bucket can be mounted") {
		t.Errorf("error %v", err)
	}
}

// A large file is in memory in pieces only, and few are on their way at once.
func TestLargeFilesOfATreeInFlight(t *testing.T) {
	const files, limit = 6, 4
	root := t.TempDir()
	for i := range files {
		file := filepath.Join(root, fmt.Sprint(i))
		if err := errors.Join(os.WriteFile(file, []byte{byte(i)}, 0o600), os.Truncate(file, api.Contract.Limits.Part+1)); err != nil {
			t.Fatal(err)
		}
	}
	b := storetest.NewBucket(t)
	// The names of uploads: the client repeats a request that a busy server does not answer in time.
	begun, open := map[string]bool{}, map[string]bool{}
	var most, largest int
	b.Before(func(r *http.Request) {
		largest = max(largest, int(r.ContentLength))
		switch query := r.URL.Query(); {
		case query.Has("upload_id") && !strings.HasSuffix(r.Header.Get("Content-Range"), "/*"):
			delete(open, query.Get("name"))
		case query.Get("uploadType") == "resumable" && !query.Has("upload_id"):
			begun[query.Get("name")], open[query.Get("name")] = true, true
			most = max(most, len(open))
		}
	})
	uploadTree(t, set(t, pack.Options{Root: root}), b.Open(t))
	if len(begun) != files || most > limit || len(open) != 0 {
		t.Errorf("%d uploads, %d at once and %d not ended; want %d, at most %d, and 0", len(begun), most, len(open), files, limit)
	}
	if largest != 16<<20 {
		t.Errorf("a request of %d bytes, want at most 16 MiB", largest)
	}
}
