package prune_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/prune"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

// place is a store in which objects can have any age.
type place struct {
	store store.Store
	add   func(name, text string, age time.Duration)
}

// onEveryStore runs a test in a directory and in a bucket.
func onEveryStore(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	t.Run("file", func(t *testing.T) { test(t, inDirectory(t)) })
	t.Run("gs", func(t *testing.T) { test(t, inBucket(t)) })
}

func open(t *testing.T, url string) store.Store {
	t.Helper()
	s, err := store.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func inDirectory(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	add := func(name, text string, age time.Duration) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		then := time.Now().Add(-age)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600), os.Chtimes(file, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	return place{open(t, "file://"+dir), add}
}

func inBucket(t *testing.T) place {
	t.Helper()
	b := storetest.NewBucket(t)
	add := func(name, text string, age time.Duration) {
		then := time.Now().Add(-age)
		b.Fake.CreateObject(fakestorage.Object{Content: []byte(text), ObjectAttrs: fakestorage.ObjectAttrs{
			BucketName: storetest.BucketName, Name: storetest.Prefix + name, Created: then, Updated: then}})
	}
	return place{b.Open(t), add}
}

func sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// blob adds an old blob and returns its hash.
func (p place) blob(text string) string {
	p.add(store.Blob(sum(text)), text, 2*p.store.PruneAge())
	return sum(text)
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var to bytes.Buffer
	w := gzip.NewWriter(&to)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return to.String()
}

// listOf is the text of a document's list.
func listOf(hashes ...string) string {
	var all []string
	for _, h := range hashes {
		all = append(all, `{"sha256":"`+h+`"}`)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// index adds an index and returns its hash.
func (p place) index(t *testing.T, version string, hashes ...string) string {
	t.Helper()
	return p.blob(packed(t, `{"version":`+version+`,"blobs":`+listOf(hashes...)+`,"files":[]}`))
}

// job adds a job with more members of its handle, and of its call.
func (p place) job(id, handle, call string) {
	p.add(store.Handle(id), `{"version":1,"job_id":"`+id+`"`+handle+`}`, time.Minute)
	p.add(store.Call(id), `{"version":1,"kind":"file"`+call+`}`, time.Minute)
}

func find(t *testing.T, s store.Store) *prune.Plan {
	t.Helper()
	plan, err := prune.Find(t.Context(), s, s.PruneAge(), func(prune.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// names lists all that a store has.
func names(t *testing.T, s store.Store) []string {
	t.Helper()
	var all []string
	for o, err := range s.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Name)
	}
	return all
}

// Every reference is followed; what none leads to goes, if it is old.
func TestPrune(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		shard := p.index(t, "2", p.blob("part 1"), p.blob("part 2"))
		set := p.blob(`{"version":1,"files":2,"bytes":9,"shards":` + listOf(shard) + `}`)
		ofHandle := p.blob(`{"version":1,"shards":` + listOf(p.index(t, "2", p.blob("part 3"))) + `}`)
		environment := p.blob(`{"version":1,"python":"3.12","wheels":` + listOf(p.blob("wheel 1")) + `}`)
		mounted := sum("a mounted directory")
		p.job("everything-1", `,"bundle_sha256":"`+p.index(t, "2", p.blob("pack"))+`","environment_sha256":"`+environment+
			`","packages":[{"file":"w.whl","sha256":"`+p.blob("wheel 2")+`"}],"map":{"inputs_sha256":"`+p.blob("inputs")+
			`"},"data":[{"name":"x","set":"`+ofHandle+`"}]`,
			`,"data":[{"name":"a","set":"`+set+`"},{"mount":"/m","bucket":"acme-jobs","folder":"team/data/`+mounted+`"}]`)
		p.add(store.Environment("everything-1"), `{"version":1,"wheels":`+listOf(p.blob("wheel 3"))+`}`, time.Minute)
		for _, name := range []string{".json", "/a/b", "/c"} {
			p.add("data/"+mounted+name, "x", 2*p.store.PruneAge())
		}
		p.job("older-1", `,"bundle_sha256":"`+p.index(t, "1", p.blob("pack of version 1"), p.blob("pack"))+`"`, "")
		p.job("expired-1", `,"bundle_sha256":"`+sum("its index was deleted by the bucket's rule")+`"`, "")
		p.add(store.Handle("handle-only-1"), `{"version":1,"job_id":"handle-only-1","bundle_sha256":"`+p.index(t, "2")+`"}`, time.Minute)
		p.add(store.Handle("job-0a1b2c3d"), `{"job_id":"job-0a1b2c3d","bucket_name":"acme-jobs"}`, time.Minute)
		p.add("blobs/README", "x", 2*p.store.PruneAge())
		p.add("data/mine/x", "x", 2*p.store.PruneAge())
		p.add("no job/handle.json", "x", 2*p.store.PruneAge())
		p.add(store.Blob(sum("young")), "young", p.store.PruneAge()/2)
		stay := names(t, p.store)

		goes := []string{p.blob("nobody's"), p.index(t, "2", p.blob("nobody's part"))}
		unnamed := "data/" + sum("nobody's directory")
		p.add(unnamed+".json", "{}", 2*p.store.PruneAge())
		p.add(unnamed+"/a/b", "ab", 2*p.store.PruneAge())

		plan := find(t, p.store)
		var listed []string
		for item := range plan.Items() {
			listed = append(listed, item.Name)
		}
		want := []string{store.Blob(goes[0]), store.Blob(goes[1]), store.Blob(sum("nobody's part"))}
		slices.Sort(want)
		if diff := cmp.Diff(append(want, unnamed+"/"), listed); diff != "" {
			t.Errorf("the plan (-want +got)\n%s", diff)
		}
		last := prune.Done{}
		done, err := plan.Delete(t.Context(), true, func(d prune.Done) { last = d })
		if err != nil || done.Objects != 5 || done.Objects != plan.Objects || done.Bytes != plan.Bytes || last != done {
			t.Errorf("deleted %+v, told %+v of %d, %d: %v", done, last, plan.Objects, plan.Bytes, err)
		}
		if diff := cmp.Diff(stay, names(t, p.store)); diff != "" {
			t.Errorf("what stays (-want +got)\n%s", diff)
		}
	})
}

// One thing that can't be read ends it before anything is deleted.
func TestWhatCannotBeReadEndsIt(t *testing.T) {
	for name, tt := range map[string]struct {
		add func(t *testing.T, p place)
		// what and why are in the message.
		what, why string
	}{
		"a handle":        {func(_ *testing.T, p place) { p.add("a1/handle.json", "{", 0) }, "/a1/handle.json", "not a handle"},
		"another's":       {func(_ *testing.T, p place) { p.add("a1/handle.json", `{"job_id":"b2"}`, 0) }, "/a1/handle.json", "another job, b2"},
		"a newer handle":  {func(_ *testing.T, p place) { p.job("a1", `,"version":9`, "") }, "/a1/handle.json", "upgrade"},
		"a call":          {func(_ *testing.T, p place) { p.job("a1", "", ",") }, "/a1/call.json", "invalid character"},
		"a newer call":    {func(_ *testing.T, p place) { p.job("a1", "", `,"version":9`) }, "/a1/call.json", "upgrade"},
		"a resolved list": {func(_ *testing.T, p place) { p.job("a1", "", ""); p.add("a1/environment.json", "[]", 0) }, "/a1/environment.json", "expected"},
		"a newer index": {func(t *testing.T, p place) {
			p.job("a1", `,"bundle_sha256":"`+p.index(t, "3")+`"`, "")
		}, "its index: reading ", "version 3"},
		"a damaged index": {func(t *testing.T, p place) {
			p.add(store.Blob(sum("other")), packed(t, `{"version":2,"blobs":[]}`), 0)
			p.job("a1", `,"bundle_sha256":"`+sum("other")+`"`, "")
		}, store.Blob(sum("other")), "doesn't match the hash"},
		"no name of an index": {func(_ *testing.T, p place) { p.job("a1", `,"bundle_sha256":"x"`, "") }, "its index", `"x"`},
		"a shard": {func(_ *testing.T, p place) {
			p.job("a1", "", `,"data":[{"set":"`+p.blob(`{"version":1,"shards":`+listOf(p.blob("not an index"))+`}`)+`"}]`)
		}, store.Blob(sum("not an index")), "invalid character"},
		"a list of packages": {func(_ *testing.T, p place) {
			p.job("a1", `,"environment_sha256":"`+p.blob("x")+`"`, "")
		}, store.Blob(sum("x")), "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			p := inDirectory(t)
			p.blob("nobody's")
			p.job("b2", "", "")
			tt.add(t, p)
			_, err := prune.Find(t.Context(), p.store, p.store.PruneAge(), func(prune.Progress) {})
			if err == nil {
				t.Fatal("it found something to delete")
			}
			for _, part := range []string{"job a1: ", tt.what, tt.why, "nothing was deleted"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
		})
	}
}

// broken is a store that fails to read some objects.
type broken struct {
	store.Store
	name string
}

func (b broken) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if name == b.name {
		return nil, errors.New("503")
	}
	return b.Store.Open(ctx, name)
}

func TestAnOutageIsNotAMissingObject(t *testing.T) {
	for _, name := range []string{"handle.json", "call.json", "environment.json"} {
		p := inDirectory(t)
		p.job("a1", "", "")
		if _, err := prune.Find(t.Context(), broken{p.store, "a1/" + name}, time.Hour, func(prune.Progress) {}); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Outputs of jobs that were cleaned up go only if that is wanted. What other programs keep there is
// not touched.
func TestOutputsWithoutAHandle(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		const id = "cpu-f-20260101-000000-0a1b2c3"
		p.add(id+"/outputs/a/b", "abc", 0)
		p.add(id+"/outputs/c", "d", 0)
		p.add(id+"/sync/0.json", "index", 0)
		p.add(id+"/sync/0/ab", "saved", 0)
		p.add(id+"/incomplete/0/c", "half", 0)
		p.add(id+"/else", "not ours", 0)
		p.add("datasets/outputs/x", "x", 0)
		p.job("a1", "", "")
		p.add("a1/outputs/x", "x", 0)
		all := names(t, p.store)
		plan := find(t, p.store)
		want := []prune.Outputs{{ID: id, URL: p.store.URL() + "/" + id + "/outputs/", Objects: 5, Bytes: 18}}
		if diff := cmp.Diff(want, plan.Outputs); diff != "" || plan.Objects != 0 {
			t.Errorf("%d other objects, outputs (-want +got)\n%s", plan.Objects, diff)
		}
		for _, outputs := range []bool{false, true} {
			done, err := plan.Delete(t.Context(), outputs, func(prune.Done) {})
			if err != nil {
				t.Fatal(err)
			}
			if outputs {
				if done.Objects != 5 || done.Bytes != 18 { // as the plan says
					t.Errorf("deleted %+v", done)
				}
				all = slices.DeleteFunc(all, func(name string) bool { return strings.HasPrefix(name, id) && name != id+"/else" })
			}
			if diff := cmp.Diff(all, names(t, p.store)); diff != "" {
				t.Errorf("with outputs %v (-want +got)\n%s", outputs, diff)
			}
		}
	})
}

// What a submit has found or made since it was listed stays.
func TestWhatIsNeededMeanwhileStays(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		p.blob("found again")
		dir := "data/" + sum("dir")
		p.add(dir+".json", "{}", 2*p.store.PruneAge())
		p.add(dir+"/x", "x", 2*p.store.PruneAge())
		plan := find(t, p.store)
		if plan.Objects != 3 {
			t.Fatalf("it found %d objects", plan.Objects)
		}
		again := func() (io.ReadCloser, error) { return nil, errors.New("it was sent again") }
		if _, err := p.store.PutBlob(t.Context(), sum("found again"), int64(len("found again")), again); err != nil {
			t.Fatal(err)
		}
		p.add(dir+".json", "{}", 0)
		stay := names(t, p.store)
		if done, err := plan.Delete(t.Context(), true, func(prune.Done) {}); err != nil || done.Objects > 0 {
			t.Errorf("deleted %+v: %v", done, err)
		}
		if diff := cmp.Diff(stay, names(t, p.store)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestInterrupts(t *testing.T) {
	p := inDirectory(t)
	for _, text := range strings.Split(strings.Repeat("x", 300), "") {
		p.blob(text + time.Now().String())
	}
	p.job("a1", "", "")
	ctx, interrupt := context.WithCancel(t.Context())
	plan := find(t, p.store)
	done, err := plan.Delete(ctx, true, func(prune.Done) { interrupt() })
	if !errors.Is(err, context.Canceled) || done.Objects == 0 || done.Objects == plan.Objects {
		t.Errorf("deleted %d of %d: %v", done.Objects, plan.Objects, err)
	}
	if rest := find(t, p.store); rest.Objects != plan.Objects-done.Objects {
		t.Errorf("%d of %d are left after %d", rest.Objects, plan.Objects, done.Objects)
	}
	if _, err := prune.Find(ctx, p.store, time.Hour, func(prune.Progress) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
