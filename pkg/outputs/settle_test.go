package outputs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// killed puts the outputs of a job into a bucket whose runner was killed before it could tidy up: the plain names
// below one prefix, what the runner keeps below another.
func (b *bucket) killed(t *testing.T, plain, home string) {
	t.Helper()
	entryOf := func(path, content, object string, modified int64) entry {
		return entry{Path: path, Size: int64(len(content)), SHA256: hashOf(content), Mode: 0o644, Modified: modified, Object: object}
	}
	data, err := json.Marshal(index{Version: indexVersion, Write: "w1", Attempt: 2, Files: []entry{
		entryOf("log.txt", "a log", "", 1),
		entryOf("last.pt", "the new state", "sync/0/aa", 3),
		entryOf("new/best.pt", "the best state", "sync/0/bb", 2),
		entryOf("by-program", "ours", "sync/0/cc", 2),
	}, Pending: []string{"half"}})
	if err != nil {
		t.Fatal(err)
	}
	ours := func(content string) map[string]string { return store.OutputMetadata("a1", 0, 1, hashOf(content)) }
	b.put(home+"sync/0.json", string(data), nil)
	b.put(home+"sync/0/aa", "the new state", nil)
	b.put(home+"sync/0/bb", "the best state", nil)
	b.put(home+"sync/0/cc", "ours", nil)
	b.put(home+"sync/0/dd", "what no index names any more", nil)
	b.put(plain+"log.txt", "a log", ours("a log"))
	b.put(plain+"last.pt", "an older state", ours("an older state"))
	b.put(plain+"by-program", "theirs", nil)
}

const ended = `{"version":1,"state":"FAILED","reason":"Killed","by":"client"}`

// saved is what killed's index names, and settled are the objects when it has been tidied up.
var (
	saved   = map[string]string{"log.txt": "a log", "last.pt": "the new state", "new/best.pt": "the best state", "by-program": "ours"}
	settled = []string{"end.json", "outputs/by-program", "outputs/last.pt", "outputs/log.txt", "outputs/new/best.pt", "sync/0.json", "sync/0/cc"}
)

func (d *Dir) checkSaved(t *testing.T, when string) {
	t.Helper()
	files, err := d.List(t.Context(), "")
	if err != nil {
		t.Fatal(when, err)
	}
	got := map[string]string{}
	for _, f := range files {
		var content bytes.Buffer
		if err := d.Write(t.Context(), f, &content); err != nil || f.Incomplete {
			t.Errorf("%s: %s: incomplete: %v, %v", when, f.Name, f.Incomplete, err)
		}
		got[f.Name] = content.String()
	}
	if diff := cmp.Diff(saved, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// However often it is cut off, what was saved can be read, and the next one finishes it.
func TestSettleThatIsCutOff(t *testing.T) {
	for changes, done := 0, false; !done; changes++ {
		b := newBucket(t)
		b.killed(t, "a1/outputs/", "a1/")
		b.put("a1/end.json", ended, nil)
		ctx, cancel := context.WithCancel(t.Context())
		b.cut = func(before int) bool {
			if before >= changes {
				cancel()
			}
			return before >= changes
		}
		err := b.outputsOf(t, api.Handle{JobID: "a1"}).Settle(ctx)
		if done = err == nil; done && changes < 5 {
			t.Errorf("it has made only %d changes", changes)
		}
		cancel()
		b.cut = nil
		b.outputsOf(t, api.Handle{JobID: "a1"}).checkSaved(t, "after it was cut off")
		if err := b.outputsOf(t, api.Handle{JobID: "a1"}).Settle(t.Context()); err != nil {
			t.Error(err)
		}
		b.outputsOf(t, api.Handle{JobID: "a1"}).checkSaved(t, "afterwards")
		if diff := cmp.Diff(settled, b.names(t, "a1")); diff != "" {
			t.Errorf("after %d changes (-want +got):\n%s", changes, diff)
		}
	}
}

// Two commands may see the end of a job at once.
func TestSettleByTwo(t *testing.T) {
	for range 10 {
		b := newBucket(t)
		b.killed(t, "a1/outputs/", "a1/")
		b.put("a1/end.json", ended, nil)
		dirs := []*Dir{b.outputsOf(t, api.Handle{JobID: "a1"}), b.outputsOf(t, api.Handle{JobID: "a1"})}
		var both sync.WaitGroup
		for _, dir := range dirs {
			both.Go(func() {
				if err := dir.Settle(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		b.outputsOf(t, api.Handle{JobID: "a1"}).checkSaved(t, "afterwards")
		for _, name := range b.names(t, "a1") {
			if name == "sync/0/dd" {
				t.Error("what no index names is left")
			}
		}
	}
}

// Of a job that runs nothing is changed: its runner does it. Neither is it done twice.
func TestSettleThatHasNothingToDo(t *testing.T) {
	b := newBucket(t)
	b.killed(t, "a1/outputs/", "a1/")
	before := b.names(t, "a1")
	if err := b.outputsOf(t, api.Handle{JobID: "a1"}).Settle(t.Context()); err != nil || b.changes > 0 {
		t.Errorf("%d changes while it runs, %v", b.changes, err)
	}
	if diff := cmp.Diff(before, b.names(t, "a1")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.put("a1/end.json", ended, nil)
	if err := b.outputsOf(t, api.Handle{JobID: "a1"}).Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.changes = 0
	if err := b.outputsOf(t, api.Handle{JobID: "a1"}).Settle(t.Context()); err != nil || b.changes > 0 {
		t.Errorf("%d changes the second time, %v", b.changes, err)
	}
}

// The outputs of an --output-dir in a bucket are tidied up there.
func TestSettleOfAnOutputDir(t *testing.T) {
	b := newBucket(t)
	b.killed(t, "shared/", "shared/.kinetic/a1/")
	b.put("a1/end.json", ended, nil)
	dir := b.outputsOf(t, api.Handle{JobID: "a1", OutputDir: "gs://" + bucketName + "/team/shared"})
	if err := dir.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir.checkSaved(t, "afterwards")
	want := []string{".kinetic/a1/sync/0.json", ".kinetic/a1/sync/0/cc", "by-program", "last.pt", "log.txt", "new/best.pt"}
	if diff := cmp.Diff(want, b.names(t, "shared")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What was removed is missed by no restore: the index doesn't name it any more.
func TestRemoval(t *testing.T) {
	b := newBucket(t)
	b.killed(t, "a1/outputs/", "a1/")
	b.put("a1/end.json", ended, nil)
	dir := b.outputsOf(t, api.Handle{JobID: "a1"})
	for _, at := range []string{"new", "by-program"} { // before it was tidied up
		files, err := dir.List(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if err := dir.Remove(t.Context(), files, true, func(int, int) {}); err != nil {
			t.Fatal(err)
		}
	}
	indexes, objects, err := dir.indexes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range indexes[0].Files {
		left = append(left, e.Path)
	}
	if diff := cmp.Diff([]string{"log.txt", "last.pt"}, left); diff != "" {
		t.Errorf("the index names (-want +got):\n%s", diff)
	}
	for _, name := range []string{"sync/0/bb", "sync/0/cc"} {
		if _, there := objects[name]; there {
			t.Errorf("%s is left", name)
		}
	}
	if err := dir.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range b.names(t, "a1") {
		if strings.HasPrefix(name, "sync/") {
			t.Errorf("%s is left", name)
		}
	}
}
