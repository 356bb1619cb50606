package outputs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// killed returns a bucket with the outputs of a job whose runner was killed before it could tidy up: the plain names
// below one prefix, what the runner keeps below another.
func killed(t *testing.T, plain, home string) *storetest.Bucket {
	t.Helper()
	entryOf := func(path anyPath, content, object string, modified int64) entry {
		return entry{Path: path, Size: int64(len(content)), SHA256: hashOf(content), Mode: 0o644, Modified: modified, Object: object}
	}
	data, err := json.Marshal(index{Version: api.Contract.Versions.OutputsIndex, Write: "w1", Attempt: 2, Grace: 25, Files: []entry{
		entryOf("log.txt", "a log", "", 1),
		entryOf("last.pt", "the new state", "sync/0/aa", 3),
		entryOf("new/best.pt", "the best state", "sync/0/bb", 2),
		entryOf("by-program", "ours", "sync/0/cc", 2),
		entryOf("_SUCCESS", "", "sync/0/ff", 0),
	}, Before: []past{{entryOf("last.pt", "an older state", "sync/0/ee", 1), 3}}, Pending: []anyPath{"half"}})
	if err != nil {
		t.Fatal(err)
	}
	b := storetest.NewBucket(t)
	ours := func(content string) map[string]string { return store.OutputMetadata("a1", 0, 1, hashOf(content)) }
	b.Put(home+"sync/0.json", string(data), nil)
	b.Put(home+"sync/0/aa", "the new state", nil)
	b.Put(home+"sync/0/bb", "the best state", nil)
	b.Put(home+"sync/0/cc", "ours", nil)
	b.Put(home+"sync/0/ee", "an older state", nil)
	b.Put(home+"sync/0/ff", "", nil)
	b.Put(home+"sync/0/dd", "what no index names any more", nil)
	b.Put(plain+"old.pt", "removed by the program", ours("removed by the program"))
	b.Put(plain+"log.txt", "a log", ours("a log"))
	b.Put(plain+"last.pt", "an older state", ours("an older state"))
	b.Put(plain+"by-program", "theirs", nil)
	return b
}

const ended = `{"version":1,"state":"FAILED","reason":"Killed","by":"runner"}`

// saved is what killed's index names, and settled are the objects when it has been tidied up.
var (
	saved   = map[string]string{"log.txt": "a log", "last.pt": "the new state", "new/best.pt": "the best state", "by-program": "ours", "_SUCCESS": ""}
	settled = []string{"end.json", "outputs/_SUCCESS", "outputs/by-program", "outputs/last.pt", "outputs/log.txt", "outputs/new/best.pt", "sync/0.json", "sync/0/cc", "sync/0/ee"}
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
		b := killed(t, "a1/outputs/", "a1/")
		b.Put("a1/end.json", ended, nil)
		ctx, cancel := context.WithCancel(t.Context())
		onChange(b, func(before int) {
			if before >= changes {
				cancel()
				panic(http.ErrAbortHandler)
			}
		})
		err := outputsOf(t, b, api.Handle{JobID: "a1"}).Settle(ctx)
		if done = err == nil; done && changes < 5 {
			t.Errorf("it has made only %d changes", changes)
		}
		cancel()
		b.Intercept(nil)
		outputsOf(t, b, api.Handle{JobID: "a1"}).checkSaved(t, "after it was cut off")
		if err := outputsOf(t, b, api.Handle{JobID: "a1"}).Settle(t.Context()); err != nil {
			t.Error(err)
		}
		outputsOf(t, b, api.Handle{JobID: "a1"}).checkSaved(t, "afterwards")
		if diff := cmp.Diff(settled, names(t, b, "a1")); diff != "" {
			t.Errorf("after %d changes (-want +got):\n%s", changes, diff)
		}
	}
}

// Two commands may see the end of a job at once.
func TestSettleByTwo(t *testing.T) {
	for range 10 {
		b := killed(t, "a1/outputs/", "a1/")
		b.Put("a1/end.json", ended, nil)
		dirs := []*Dir{outputsOf(t, b, api.Handle{JobID: "a1"}), outputsOf(t, b, api.Handle{JobID: "a1"})}
		var both sync.WaitGroup
		for _, dir := range dirs {
			both.Go(func() {
				if err := dir.Settle(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		outputsOf(t, b, api.Handle{JobID: "a1"}).checkSaved(t, "afterwards")
		for _, name := range names(t, b, "a1") {
			if name == "sync/0/dd" {
				t.Error("what no index names is left")
			}
		}
	}
}

// Of a job that runs nothing is changed: its runner does it. Neither is it done twice.
func TestSettleThatHasNothingToDo(t *testing.T) {
	b := killed(t, "a1/outputs/", "a1/")
	before := names(t, b, "a1")
	unchanged := func(int) { t.Error("it changes something") }
	onChange(b, unchanged)
	if err := outputsOf(t, b, api.Handle{JobID: "a1"}).Settle(t.Context()); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	if diff := cmp.Diff(before, names(t, b, "a1")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Put("a1/end.json", ended, nil)
	b.Intercept(nil)
	if err := outputsOf(t, b, api.Handle{JobID: "a1"}).Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	onChange(b, unchanged)
	if err := outputsOf(t, b, api.Handle{JobID: "a1"}).Settle(t.Context()); err != nil {
		t.Errorf("the second time: %v", err)
	}
}

// A pod that was deleted saves its outputs in its grace period, although a client has recorded the end.
func TestSettleInTheGracePeriod(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour} { // this machine's clock
		for age, want := range map[time.Duration]bool{28 * time.Second: false, 40 * time.Second: true} { // the pod has 30 seconds
			b := killed(t, "a1/outputs/", "a1/")
			then := time.Now().Add(-ahead - age)
			b.Fake.CreateObject(fakestorage.Object{
				ObjectAttrs: fakestorage.ObjectAttrs{BucketName: storetest.BucketName, Name: storetest.Prefix + "a1/end.json", Created: then, Updated: then},
				Content:     []byte(`{"version":1,"state":"FAILED","reason":"Deleted","by":"client"}`),
			})
			changed := false
			onChange(b, func(int) { changed = true })
			dir := outputsOf(t, b, api.Handle{JobID: "a1"})
			dir.homeStore = clocked{dir.homeStore, -ahead}
			if err := dir.Settle(t.Context()); err != nil || changed != want {
				t.Errorf("%s after the end, with a clock that is %s ahead: changed: %t, %v", age, ahead, changed, err)
			}
		}
	}
}

// clocked is a store whose clock differs from this machine's.
type clocked struct {
	store.Store
	difference time.Duration
}

func (c clocked) Now() time.Time { return time.Now().Add(c.difference) }

// A runner of several hosts records the end of all: until the others have said that they have ended, or their grace period
// is over, they may still save.
func TestSettleWhileAnotherHostSaves(t *testing.T) {
	hosts := api.Handle{JobID: "a1", Hosts: 2}
	for name, c := range map[string]struct {
		finished time.Duration
		ended    bool
		settles  bool
	}{
		"just now":            {0, false, false},
		"after the grace":     {-time.Minute, false, true},
		"just now, all ended": {0, true, true},
	} {
		b := killed(t, "a1/outputs/", "a1/")
		if c.ended {
			data, _ := json.Marshal(index{Version: api.Contract.Versions.OutputsIndex, Write: "w1", Attempt: 2, Ended: true, Pending: []anyPath{"half"}})
			b.Put("a1/sync/0.json", string(data), nil)
		}
		end, err := json.Marshal(api.End{Version: api.EndVersion, State: api.Failed, Reason: api.Killed, By: "runner", Finished: time.Now().Add(c.finished)})
		if err != nil {
			t.Fatal(err)
		}
		b.Put("a1/end.json", string(end), nil)
		before := names(t, b, "a1")
		if err := outputsOf(t, b, hosts).Settle(t.Context()); err != nil || cmp.Equal(before, names(t, b, "a1")) == c.settles {
			t.Errorf("%s: %v, %v", name, names(t, b, "a1"), err)
		}
	}
}

// Two hosts that write one file: the plain name is that of one, and the index of the other keeps its own.
func TestSettleOfAFileOfTwoHosts(t *testing.T) {
	b := storetest.NewBucket(t)
	file := func(content, object string) entry {
		return entry{Path: "train.log", Size: int64(len(content)), SHA256: hashOf(content), Mode: 0o644, Modified: 1, Object: object}
	}
	for number, x := range []index{
		{Version: api.Contract.Versions.OutputsIndex, Write: "w0", Attempt: 1, Ended: true, Done: true, Files: []entry{file("of host 0", "")}},
		{Version: api.Contract.Versions.OutputsIndex, Write: "w1", Attempt: 1, Ended: true, Files: []entry{file("of host 1", "sync/1/aa")}},
	} {
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		b.Put(store.Sync("a1", number), string(data), nil)
	}
	b.Put("a1/outputs/train.log", "of host 0", store.OutputMetadata("a1", 0, 1, hashOf("of host 0")))
	b.Put("a1/sync/1/aa", "of host 1", nil)
	b.Put("a1/end.json", ended, nil)
	if err := outputsOf(t, b, api.Handle{JobID: "a1", Hosts: 2}).Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"end.json", "outputs/train.log", "sync/0.json", "sync/1.json", "sync/1/aa"}, names(t, b, "a1")); diff != "" {
		t.Error(diff)
	}
	for _, o := range b.Objects(t, "a1/outputs/") {
		if o.Size != int64(len("of host 0")) || !strings.Contains(o.Metadata["kinetic-sync"], "a1/0/") {
			t.Errorf("the plain name has %d bytes, %v", o.Size, o.Metadata)
		}
	}
}

func TestSettleOfAnOutputDir(t *testing.T) {
	b := killed(t, "shared/", "shared/.kinetic/a1/")
	b.Put("a1/end.json", ended, nil)
	dir := outputsOf(t, b, api.Handle{JobID: "a1", OutputDir: storetest.URL + "/shared"})
	if err := dir.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir.checkSaved(t, "afterwards")
	want := []string{".kinetic/a1/sync/0.json", ".kinetic/a1/sync/0/cc", ".kinetic/a1/sync/0/ee", "_SUCCESS", "by-program", "last.pt", "log.txt", "new/best.pt", "old.pt"}
	if diff := cmp.Diff(want, names(t, b, "shared")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What was removed is missed by no restore: the index doesn't name it any more.
func TestRemoval(t *testing.T) {
	b := killed(t, "a1/outputs/", "a1/")
	b.Put("a1/end.json", ended, nil)
	dir := outputsOf(t, b, api.Handle{JobID: "a1"})
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
	var left []anyPath
	for _, e := range indexes[0].Files {
		left = append(left, e.Path)
	}
	if diff := cmp.Diff([]anyPath{"log.txt", "last.pt", "_SUCCESS"}, left); diff != "" {
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
	for _, name := range names(t, b, "a1") {
		if strings.HasPrefix(name, "sync/") {
			t.Errorf("%s is left", name)
		}
	}
}
