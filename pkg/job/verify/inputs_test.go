package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// aMap is a map of two chunks with an input each: the pickles of input 0 are in its result, those of
// input 1 in an object.
func aMap(t *testing.T, url string, b job.Backend) (*job.Job, []api.ChunkHashes) {
	t.Helper()
	j := jobIn(t, url, b)
	j.Handle.Map = &api.Map{Inputs: 2, Chunk: 1, Parallelism: 2}
	var reported []api.ChunkHashes
	for chunk, text := range []string{"one", "two"} {
		list := fmt.Sprintf("%d %s\n", chunk, pickleOf(text).SHA256)
		reported = append(reported, api.ChunkHashes{Chunk: chunk, Attempt: chunk + 1, SHA256: pickleOf(list).SHA256})
		put(t, j, store.Hashes("a1", chunk, chunk+1), list)
	}
	put(t, j, "a1/results/1.pkl", "two")
	return j, reported
}

func put(t *testing.T, j *job.Job, name, text string) {
	t.Helper()
	if err := j.Store.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
}

// resultOf returns the result of an input.
func resultOf(input int) api.Result {
	if input == 0 {
		return api.Result{OK: true, Pickled: []byte("one"), PickleSHA256: pickleOf("one").SHA256, PickleSize: 3}
	}
	name := "results/1.pkl"
	return api.Result{OK: true, Pickle: &name, PickleSHA256: pickleOf("two").SHA256, PickleSize: 3}
}

func output(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func states(state api.State, hashes ...api.ChunkHashes) api.WorkloadStatus {
	return api.WorkloadStatus{Status: api.Status{State: state, Hashes: hashes}}
}

// A map may have the ID of one that was collected here and cleaned up.
func TestInputsOfAnIDThatIsUsedAgain(t *testing.T) {
	reports := Reports{t.TempDir()}
	j, reported := aMap(t, "gs://mine", cluster{now: states(api.Running)})
	first := Verifier{Reports: reports}.Inputs(j)
	first.Note(api.Status{Hashes: reported})
	if err := first.Look(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for chunk := range reported {
		if err := j.Store.Delete(t.Context(), store.Hashes("a1", chunk, chunk+1)); err != nil {
			t.Fatal(err)
		}
	}
	err := Verifier{Reports: reports}.Inputs(j).Look(t.Context(), false)
	if want := "not found; if that was another job with the same ID, add --trust-store"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("submitted elsewhere: got %v, want …%s", err, want)
	}
	if err := (Verifier{Reports: reports, TrustStore: true}).Inputs(j).Look(t.Context(), false); err != nil {
		t.Errorf("submitted elsewhere, with --trust-store: %v", err)
	}
	reports.Forget("gs://mine", "a1")
	if err := (Verifier{Reports: reports}).Inputs(j).Look(t.Context(), false); err != nil {
		t.Errorf("submitted here: %v", err)
	}
}

// The pickles of a chunk are taken once its pod has reported their hashes.
func TestInputsAsTheyCome(t *testing.T) {
	j, reported := aMap(t, "gs://mine", cluster{now: states(api.Running)})
	inputs, file := Verifier{Reports: Reports{t.TempDir()}}.Inputs(j), output(t)
	if err := inputs.Look(t.Context(), false); err != nil || inputs.Ready(0) || inputs.Ready(1) {
		t.Errorf("before: %v, %v, %v", inputs.Ready(0), inputs.Ready(1), err)
	}
	inputs.Note(api.Status{Hashes: reported[1:]})
	if err := inputs.Look(t.Context(), false); err != nil || inputs.Ready(0) || !inputs.Ready(1) {
		t.Errorf("after one: %v, %v, %v", inputs.Ready(0), inputs.Ready(1), err)
	}
	inputs.Note(api.Status{Hashes: reported})
	if err := inputs.Look(t.Context(), false); err != nil || !inputs.Ready(0) {
		t.Errorf("after all: %v, %v", inputs.Ready(0), err)
	}
	for i, want := range []Appended{{0, 3, pickleOf("one").SHA256, Cluster}, {3, 3, pickleOf("two").SHA256, Cluster}} {
		got, err := inputs.Append(t.Context(), file, int64(3*i), i, resultOf(i))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	text, err := os.ReadFile(file.Name())
	if err != nil || string(text) != "onetwo" || inputs.Warning() != "" {
		t.Errorf("the file has %q, %v; warning %q", text, err, inputs.Warning())
	}
	if none, err := inputs.Append(t.Context(), file, 6, 0, api.Result{}); none != nil || err != nil {
		t.Errorf("an input without a pickle: %+v, %v", none, err)
	}
}

// Bytes that are not those that were reported leave no trace in the file.
func TestAppendRefuses(t *testing.T) {
	j, reported := aMap(t, "gs://mine", cluster{now: states(api.Running)})
	inputs, file := Verifier{}.Inputs(j), output(t)
	inputs.Note(api.Status{Hashes: reported})
	if err := inputs.Look(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := inputs.Append(t.Context(), file, 0, 0, resultOf(0)); err != nil {
		t.Fatal(err)
	}
	var untrusted *Error
	_, err := inputs.Append(t.Context(), file, 3, 1, api.Result{OK: true, Pickled: []byte("other"), PickleSHA256: pickleOf("other").SHA256, PickleSize: 5})
	if !errors.As(err, &untrusted) || !strings.Contains(err.Error(), "a1/results/1.json is not the result of job a1: the SHA-256 of its pickle is "+pickleOf("other").SHA256+", and its pod reported "+pickleOf("two").SHA256) {
		t.Errorf("got %v", err)
	}
	if _, err := inputs.Append(t.Context(), file, 3, 1, resultOf(1)); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(file.Name()); err != nil || string(text) != "onetwo" {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// A pod may compute an input again that another one has reported: the last one counts, also if the
// first is gone by then.
func TestInputsThatWereComputedAgain(t *testing.T) {
	j, reported := aMap(t, "gs://mine", cluster{})
	list := "0 " + pickleOf("again").SHA256 + "\n"
	put(t, j, store.Hashes("a1", 0, 2), list)
	again := api.ChunkHashes{Chunk: 0, Attempt: 2, SHA256: pickleOf(list).SHA256}
	inputs, file := Verifier{}.Inputs(j), output(t)
	look := func(reported ...api.ChunkHashes) {
		inputs.Note(api.Status{Hashes: reported})
		if err := inputs.Look(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	look(reported...)
	result := api.Result{OK: true, Pickled: []byte("again"), PickleSHA256: pickleOf("again").SHA256, PickleSize: 5}
	if _, err := inputs.Append(t.Context(), file, 0, 0, result); !errors.As(err, new(*Error)) || !inputs.Postpone(0) || inputs.Ready(0) || !inputs.Ready(1) {
		t.Errorf("before its report: %v", err)
	}
	look(again)
	look(reported[0])
	if _, err := inputs.Append(t.Context(), file, 0, 0, result); err != nil {
		t.Error(err)
	}
	if got, _, err := inputs.Hash(1, ""); got != pickleOf("two").SHA256 || err != nil {
		t.Errorf("a pod that is gone: %q, %v", got, err)
	}
}

// A list that was changed is not believed.
func TestAListThatWasChanged(t *testing.T) {
	j, reported := aMap(t, "gs://mine", cluster{})
	for name, change := range map[string]api.ChunkHashes{
		"is not what chunk 0 of job a1 wrote":               {Chunk: 0, Attempt: 1, SHA256: reported[1].SHA256},
		"the hashes of the results of chunk 7 were deleted": {Chunk: 7, Attempt: 1, SHA256: reported[1].SHA256},
	} {
		inputs := Verifier{}.Inputs(j)
		inputs.Note(api.Status{Hashes: []api.ChunkHashes{change}})
		var untrusted *Error
		if err := inputs.Look(t.Context(), false); !errors.As(err, &untrusted) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
}

func TestInputsOfAnEndedMap(t *testing.T) {
	_, reported := aMap(t, "gs://mine", cluster{})
	gone := states(api.NotFound)
	for name, tt := range map[string]struct {
		store      string
		cluster    cluster
		remembered []api.ChunkHashes
		trustStore bool
		sources    string // of both inputs
		warns      bool
		err        string
	}{
		"its pods are there":             {store: "gs://mine", cluster: cluster{now: states(api.Succeeded, reported...)}, sources: "cluster cluster"},
		"one pod is gone":                {store: "gs://mine", cluster: cluster{now: states(api.Succeeded, reported[0])}, sources: "cluster store", warns: true},
		"one pod is gone, another store": {store: "gs://other", cluster: cluster{now: states(api.Succeeded, reported[0])}, err: "no pod of job a1 has reported the hash of this result, and only the store gs://other has it: compute it again with --map-resume a1; if everybody"},
		"one pod is gone, remembered":    {store: "gs://mine", cluster: cluster{now: states(api.Succeeded, reported[0])}, remembered: reported, sources: "cluster cache"},
		"all pods are gone":              {store: "gs://mine", cluster: cluster{now: states(api.Succeeded)}, sources: "store store", warns: true},
		"it still runs":                  {store: "gs://mine", cluster: cluster{now: states(api.Running, reported[0])}, err: "no pod of job a1 has reported the hash of this result, and only the store gs://mine has it: "},
		"one pod was killed, trusted":    {store: "gs://mine", cluster: cluster{now: states(api.Succeeded, reported[0])}, trustStore: true, sources: "cluster store"},
		"gone, and remembered":           {store: "gs://mine", cluster: cluster{now: gone}, remembered: reported, sources: "cache cache"},
		"gone":                           {store: "gs://mine", cluster: cluster{now: gone}, sources: "store store", warns: true},
		"gone, in another store":         {store: "gs://other", cluster: cluster{now: gone}, err: "no pod of job a1 has reported the hash of this result, and only the store gs://other has it: "},
		"gone, in another that is named": {store: "gs://other", cluster: cluster{now: gone}, trustStore: true, sources: "store store"},
		"no cluster":                     {store: "gs://mine", cluster: cluster{err: errors.New("no route")}, err: "the hashes of its results could not be read from its cluster"},
		"on this machine":                {cluster: cluster{err: errors.New("nobody asks")}, sources: "local local"},
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := aMap(t, tt.store, tt.cluster)
			f := Verifier{Reports: Reports{t.TempDir()}, TrustStore: tt.trustStore}
			if tt.remembered != nil {
				f.Reports.RememberMap("gs://mine", "a1", tt.remembered)
			}
			inputs, file := f.Inputs(j), output(t)
			err := inputs.Look(t.Context(), true)
			var sources []string
			for i := range 2 {
				if err != nil {
					break
				}
				if !inputs.Ready(i) {
					t.Errorf("input %d is not ready", i)
				}
				var a *Appended
				if a, err = inputs.Append(t.Context(), file, int64(3*i), i, resultOf(i)); err == nil {
					sources = append(sources, string(a.Trust))
				}
			}
			var untrusted *Error
			if tt.err != "" {
				if !errors.As(err, &untrusted) || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if got := strings.Join(sources, " "); err != nil || got != tt.sources || (inputs.Warning() != "") != tt.warns {
				t.Errorf("got %q, warning %q, %v; want %q", got, inputs.Warning(), err, tt.sources)
			}
		})
	}
}

// Pods go one by one. What this machine has once seen of a map stays known, also if the client is killed before the end.
func TestInputsThatThisMachineHasSeen(t *testing.T) {
	f := Verifier{Reports: Reports{t.TempDir()}}
	j, reported := aMap(t, "gs://mine", cluster{now: states(api.Running)})
	first := f.Inputs(j)
	first.Note(api.Status{Hashes: reported[:1]})
	if err := first.Look(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for _, seen := range [][]api.ChunkHashes{reported[1:], nil, reported[:1]} {
		j, _ := aMap(t, "gs://mine", cluster{now: states(api.Succeeded, seen...)})
		inputs := f.Inputs(j)
		if err := inputs.Look(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{pickleOf("one").SHA256, pickleOf("two").SHA256} {
			if got, source, err := inputs.Hash(i, "what the store says"); got != want || err != nil {
				t.Errorf("%d pods left, input %d: %q from the %s, %v", len(seen), i, got, source, err)
			}
		}
	}
}

func TestReportsOfAMap(t *testing.T) {
	r := Reports{Dir: t.TempDir()}
	want := []api.ChunkHashes{{Chunk: 3, Attempt: 2, SHA256: "ab"}, {Chunk: 4, Attempt: 1, SHA256: "cd"}}
	r.RememberMap("gs://a", "m1", want)
	if diff := cmp.Diff(want, r.RecallMap("gs://a", "m1")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	again := []api.ChunkHashes{want[0], {Chunk: 4, Attempt: 1, SHA256: "ef"}} // of another job with this ID
	r.RememberMap("gs://a", "m1", again)
	if diff := cmp.Diff(again, r.RecallMap("gs://a", "m1")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, known := r.Recall("gs://a", "m1"); known || r.RecallMap("gs://b", "m1") != nil {
		t.Error("something else is known, too")
	}
}

// The line about an input of a map has these members.
func TestAppendedAsJSON(t *testing.T) {
	text, err := json.Marshal(Appended{Offset: 1, Size: 2, SHA256: "ab", Trust: Store})
	if err != nil || string(text) != `{"offset":1,"size":2,"sha256":"ab","trust":"store"}` {
		t.Errorf("got %s, %v", text, err)
	}
}
