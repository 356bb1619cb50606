package prune_test

import (
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

const (
	day = 24 * time.Hour
	// unused is the age from which the tests delete; the others are ages of objects.
	unused, young, old = 30 * day, 29 * day, 31 * day
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

func inDirectory(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open("file://" + dir)
	if err != nil {
		t.Fatal(err)
	}
	add := func(name, text string, age time.Duration) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		then := time.Now().Add(-age)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600), os.Chtimes(file, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	return place{s, add}
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

func find(t *testing.T, s store.Store) *prune.Plan {
	t.Helper()
	plan, err := prune.Find(t.Context(), s, unused, true)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func remove(t *testing.T, plan *prune.Plan) prune.Done {
	t.Helper()
	var last prune.Done
	done, err := plan.Delete(t.Context(), func(d prune.Done) { last = d })
	if err != nil || done != last {
		t.Errorf("deleted %+v, told %+v: %v", done, last, err)
	}
	return done
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

// What was not used for some time goes. A directory is as old as its newest object.
func TestPrune(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		p.add(store.Blob(sum("young")), "young", young)
		p.add(store.DataRecord(sum("used")), "{}", young)
		p.add(store.DataTree(sum("used"))+"a", "a", old)
		p.add(store.DataTree(sum("being sent"))+"a", "a", old)
		p.add(store.DataTree(sum("being sent"))+"d/b", "b", young)
		for _, name := range []string{"blobs/README", "blobs/sha256/00/" + sum("elsewhere"), "data/mine/x", "data/x.json", "a1/handle.json", "a1/outputs/x", "no job/outputs/x"} {
			p.add(name, "x", old)
		}
		stay := names(t, p.store)

		p.add(store.Blob(sum("old")), "old", old)
		p.add(store.DataRecord(sum("complete")), "{}", old)
		p.add(store.DataTree(sum("complete"))+"a/b", "ab", old)
		p.add(store.DataTree(sum("complete"))+"c", "c", old)
		p.add(store.DataTree(sum("cut off"))+"a", "a", old)
		p.add("data/"+sum("keras-kinetic's")[:16]+"/a", "a", old)
		want := []string{store.DataTree(sum("complete")), store.DataTree(sum("cut off")), "data/" + sum("keras-kinetic's")[:16] + "/"}
		slices.Sort(want)
		want = append([]string{store.Blob(sum("old"))}, want...)

		plan := find(t, p.store)
		var listed []string
		for _, item := range plan.Items {
			listed = append(listed, item.Name)
		}
		if diff := cmp.Diff(want, listed); diff != "" || plan.Objects != 6 || plan.Bytes != 10 {
			t.Errorf("%d objects, %d bytes (-want +got)\n%s", plan.Objects, plan.Bytes, diff)
		}
		if done := remove(t, plan); done.Objects != plan.Objects || done.Bytes != plan.Bytes {
			t.Errorf("deleted %+v", done)
		}
		if diff := cmp.Diff(stay, names(t, p.store)); diff != "" {
			t.Errorf("what stays (-want +got)\n%s", diff)
		}
	})
}

// An empty directory is an object whose name ends in a slash.
func TestEmptyDirectoriesOfTrees(t *testing.T) {
	p := inBucket(t)
	p.add(store.DataRecord(sum("x")), "{}", old)
	p.add(store.DataTree(sum("x"))+"empty/", "", old)
	if done := remove(t, find(t, p.store)); done.Objects != 2 {
		t.Errorf("deleted %+v", done)
	}
	if left := names(t, p.store); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// watched is a store that notes in which order objects are deleted, and fails at the second.
type watched struct {
	store.Store
	deleted []string
}

func (w *watched) DeleteListed(ctx context.Context, o store.Object) (bool, error) {
	if len(w.deleted) > 0 {
		return false, errors.New("503")
	}
	w.deleted = append(w.deleted, o.Name)
	return w.Store.DeleteListed(ctx, o)
}

// Without its record nobody relies on a tree that is deleted in part.
func TestTheRecordOfATreeGoesFirst(t *testing.T) {
	p := inDirectory(t)
	for _, name := range []string{store.DataTree(sum("x")) + "!", store.DataRecord(sum("x"))} {
		p.add(name, "x", old)
	}
	w := &watched{Store: p.store}
	if _, err := find(t, w).Delete(t.Context(), func(prune.Done) {}); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("error %v, want 503", err)
	}
	if !slices.Equal(w.deleted, []string{store.DataRecord(sum("x"))}) {
		t.Errorf("deleted %q, want the record", w.deleted)
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
		p.add("a1/handle.json", "not JSON", 0)
		p.add("a1/outputs/x", "x", 0)
		all := names(t, p.store)
		if plan, err := prune.Find(t.Context(), p.store, unused, false); err != nil || len(plan.Outputs) > 0 {
			t.Errorf("without outputs: %+v, %v", plan, err)
		}
		plan := find(t, p.store)
		if len(plan.Outputs) != 1 || plan.Outputs[0].ID != id || plan.Outputs[0].URL != p.store.URL()+"/"+id+"/outputs/" || plan.Objects != 5 || plan.Bytes != 18 {
			t.Errorf("%+v", plan)
		}
		if done := remove(t, plan); done.Objects != 5 || done.Bytes != 18 {
			t.Errorf("deleted %+v", done)
		}
		all = slices.DeleteFunc(all, func(name string) bool { return strings.HasPrefix(name, id) && name != id+"/else" })
		if diff := cmp.Diff(all, names(t, p.store)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// A job that waits begins with the outputs of an older one, which may have been cleaned up since.
func TestOutputsThatAJobResumesFrom(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		id := func(name string) string { return "cpu-" + name + "-20260101-000000-0a1b2c3" }
		for name, end := range map[string]string{"waits": "", "ended": `{"version":1,"state":"FAILED"}`} {
			p.add(store.Outputs(id("before-"+name))+"last.pt", "weights", 0)
			p.add(store.Handle(id(name)), `{"version":99,"resume_from":"`+id("before-"+name)+`"}`, 0)
			if end != "" {
				p.add(store.End(id(name)), end, 0)
			}
		}
		p.add(store.Handle("broken"), "{", 0)
		if plan := find(t, p.store); len(plan.Outputs) != 1 || plan.Outputs[0].ID != id("before-ended") || plan.Objects != 1 {
			t.Errorf("%+v", plan.Outputs)
		}
	})
}

// A job that is submitted while prune asks begins with older outputs, or has their ID.
func TestOutputsThatANewJobUses(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		id := func(name string) string { return "cpu-" + name + "-20260101-000000-0a1b2c3" }
		for _, name := range []string{"before", "again", "unused"} {
			p.add(store.Outputs(id(name))+"last.pt", "weights", 0)
		}
		plan := find(t, p.store)
		p.add(store.Handle(id("new")), `{"version":99,"resume_from":"`+id("before")+`"}`, 0)
		p.add(store.Handle(id("again")), `{"version":99}`, 0)
		if done := remove(t, plan); done.Objects != 1 || done.Objects != plan.Objects || done.Bytes != plan.Bytes || len(plan.Outputs) != 1 || plan.Outputs[0].ID != id("unused") {
			t.Errorf("deleted %+v, %+v", done, plan.Outputs)
		}
	})
}

// The mark of a runner shows that outputs under an ID of the user's own belonged to a job.
func TestOutputsThatARunnerWrote(t *testing.T) {
	p := inBucket(t)
	if err := p.store.Create(t.Context(), "mine/outputs/x", strings.NewReader("x"), store.OutputMetadata("mine", 0, 1, sum("x"))); err != nil {
		t.Fatal(err)
	}
	if plan := find(t, p.store); len(plan.Outputs) != 1 || plan.Outputs[0].ID != "mine" {
		t.Errorf("%+v", plan.Outputs)
	}
}

// What a submit has found or made since it was listed stays.
func TestWhatIsUsedMeanwhileStays(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		p.add(store.Blob(sum("found again")), "found again", old)
		p.add(store.DataRecord(sum("dir")), "{}", old)
		p.add(store.DataTree(sum("dir"))+"x", "x", old)
		plan := find(t, p.store)
		if plan.Objects != 3 {
			t.Fatalf("it found %d objects", plan.Objects)
		}
		again := func() (io.ReadCloser, error) { return nil, errors.New("it was sent again") }
		if _, err := p.store.PutBlob(t.Context(), sum("found again"), int64(len("found again")), again); err != nil {
			t.Fatal(err)
		}
		p.add(store.DataRecord(sum("dir")), "{}", 0)
		if done := remove(t, plan); done.Objects > 0 {
			t.Errorf("deleted %+v", done)
		}
	})
}

func TestInterrupts(t *testing.T) {
	p := inDirectory(t)
	for i := range 300 {
		text := strings.Repeat("x", i)
		p.add(store.Blob(sum(text)), text, old)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	plan := find(t, p.store)
	done, err := plan.Delete(ctx, func(prune.Done) { interrupt() })
	if !errors.Is(err, context.Canceled) || done.Objects == 0 || done.Objects == plan.Objects {
		t.Errorf("deleted %d of %d: %v", done.Objects, plan.Objects, err)
	}
	if rest := find(t, p.store); rest.Objects != plan.Objects-done.Objects {
		t.Errorf("%d of %d are left after %d", rest.Objects, plan.Objects, done.Objects)
	}
	if _, err := prune.Find(ctx, p.store, unused, true); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
