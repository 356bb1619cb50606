package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestNames(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for want, got := range map[string]string{
		"blobs/sha256/ab/" + sum: store.Blob(sum),
		"j/handle.json":          store.Handle("j"),
		"j/call.json":            store.Call("j"),
		"j/payload.pkl":          store.Payload("j"),
		"j/results/3.hashes":     store.Hashes("j", 3, 1),
		"j/results/3-2.hashes":   store.Hashes("j", 3, 2),
		"j/result.json":          store.Result("j"),
		"j/result.pkl":           store.PythonResult("j"),
		"j/value.pkl":            store.Pickle("j", "../../value.pkl"),
		"j/end.json":             store.End("j"),
		"j/collected.json":       store.Collected("j"),
		"j/environment.json":     store.Environment("j"),
		"j/attempts/":            store.Attempts("j"),
		"j/logs/":                store.Logs("j"),
		"j/logs/3/1-2.log":       store.LogPart("j", 3, 1, 2),
		"j/outputs/":             store.Outputs("j"),
		"outputs/j/":             store.PythonOutputs("j"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCheckID(t *testing.T) {
	for id, want := range map[string]string{
		"cpu-train-20260417-153012-abc1234": "",
		"job-12345678":                      "",
		"ab":                                "",
		strings.Repeat("a", 50):             "",
		strings.Repeat("a", 51):             "expected 2 to 50",
		"":                                  "expected 2 to 50",
		"a":                                 "expected 2 to 50",
		"-a":                                "expected 2 to 50",
		"a-":                                "expected 2 to 50",
		"../x":                              "expected 2 to 50",
		"a/b":                               "expected 2 to 50",
		"A1":                                "expected 2 to 50",
		"ab\n":                              "expected 2 to 50",
		"blobs":                             "reserved",
		"outputs":                           "reserved",
		"default":                           "reserved",
		"_groups":                           "expected 2 to 50",
		"pathways":                          "reserved",
	} {
		err := store.CheckID(id)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CheckID(%q) = %v, want %q", id, err, want)
		}
	}
}

func TestTimeOf(t *testing.T) {
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for id, want := range map[string]time.Time{
		"cpu-train-20260102-030405-abc1234": made,
		"-20260102-030405-abc1234":          made,
		"20260102-030405-abc1234":           {},
		"cpu-train-20260102-030405-ABC1234": {},
		"cpu-train-20260102-030405-abc123":  {},
		"cpu-20260102-030405-abc1234-again": {},
		"cpu-train-20261302-030405-abc1234": {},
		"job-0a1b2c3d":                      {},
		"":                                  {},
	} {
		if got := store.TimeOf(id); !got.Equal(want) {
			t.Errorf("%q is of %v, want %v", id, got, want)
		}
	}
}

func TestPickleStaysInItsJob(t *testing.T) {
	for name, want := range map[string]string{
		"result.pkl": "j/result.pkl", "result-2.pkl": "j/result-2.pkl", "results/3-2.pkl": "j/results/3-2.pkl", "../other/result.pkl": "j/other/result.pkl",
	} {
		if got := store.Pickle("j", name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// What is a job's, and what shows that a directory is one: an id that a program
// makes needs less than one that a person chose, or a directory of someone else.
func TestRecords(t *testing.T) {
	const ours, python, any = "cpu-train-20260417-153012-abc1234", "job-1a2b3c4d", "datasets"
	tests := map[string]struct{ record, trace string }{ // the ids for which it is
		"handle.json":          {ours + " " + python + " " + any, ours + " " + python},
		"call.json":            {ours + " " + python + " " + any, ours + " " + python + " " + any},
		"end.json":             {ours + " " + python + " " + any, ours + " " + python + " " + any},
		"collected.json":       {ours + " " + python + " " + any, ours + " " + python},
		"environment.json":     {ours + " " + python + " " + any, ours + " " + python},
		"result.json":          {ours + " " + python + " " + any, ours + " " + python + " " + any},
		"attempts/12.json":     {ours + " " + python + " " + any, ours + " " + python + " " + any},
		"attempts/4-2.json":    {ours + " " + python + " " + any, ours + " " + python},
		"payload.pkl":          {ours + " " + python + " " + any, ours + " " + python},
		"callxjson":            {},
		"logs/0/1-2.log":       {ours + " " + python + " " + any, ours + " " + python + " " + any},
		"parts/1/rm.log":       {ours + " " + python + " " + any, ours + " " + python},
		"parts/2/worker-7.log": {ours + " " + python + " " + any, ours + " " + python},
		"parts/1/train.log":    {},
		"result.pkl":           {ours + " " + python + " " + any, ours + " " + python},
		"result-2.pkl":         {ours + " " + python + " " + any, ours + " " + python},
		"results/3.pkl":        {ours + " " + python + " " + any, ours + " " + python},
		"results/3-2.pkl":      {ours + " " + python + " " + any, ours + " " + python},
		"results/3.try":        {ours + " " + python + " " + any, ours + " " + python},
		"results/3-2.hashes":   {ours + " " + python + " " + any, ours + " " + python},
		"results/3.hashes":     {ours + " " + python + " " + any, ours + " " + python},
		"results/try":          {},
		"results/3.json":       {ours + " " + python + " " + any, ours + " " + python},
		"context.zip":          {python, python},
		"requirements.txt":     {python, python},
		"result-worker-1.pkl":  {python, python},
		"outputs/model":        {},
		"train.csv":            {},
		"logs/train.log":       {},
		"attempts/best.json":   {},
		"old/handle.json":      {},
		"handle.json.bak":      {},
		"blobs/sha256/aa/bb":   {},
	}
	for name, tt := range tests {
		var record, trace []string
		for _, id := range []string{ours, python, any} {
			if store.IsRecord(id, id+"/"+name) {
				record = append(record, id)
			}
			if store.IsTrace(id, id+"/"+name) {
				trace = append(trace, id)
			}
		}
		if got := strings.Join(record, " "); got != tt.record {
			t.Errorf("%s is a record of %q, want %q", name, got, tt.record)
		}
		if got := strings.Join(trace, " "); got != tt.trace {
			t.Errorf("%s is a trace of %q, want %q", name, got, tt.trace)
		}
	}
	if store.IsRecord("a1", "a12/handle.json") || store.IsTrace("a1", "a12/call.json") {
		t.Error("a record of another job is taken for this one's")
	}
}

func TestNamesOfSharedObjects(t *testing.T) {
	sha := strings.Repeat("ab", 32)
	for name, want := range map[string]string{
		store.Blob(sha):                   store.Blob(sha),
		"blobs/sha256/aa/" + sha:          "",
		"blobs/sha256/ab/" + sha + ".tmp": "",
		"blobs/md5/ab/" + sha:             "",
		"data/" + sha + "/a/b":            "data/" + sha + "/",
		"data/" + sha + "/empty/":         "data/" + sha + "/",
		"data/" + sha + ".json":           "data/" + sha + "/",
		"data/" + sha[:16] + "/a":         "data/" + sha[:16] + "/",
		"data/" + sha:                     "",
		"data/notes.json":                 "",
		"data/my-own-set/x":               "",
		"blobs/" + sha + ".json":          "",
	} {
		if got := store.Shared(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// What is written below Data is what Shared recognizes, and no job has its name.
func TestDataNames(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for _, name := range []string{store.DataTree(sum) + "a/b", store.DataRecord(sum)} {
		if got := store.Shared(name); got != store.DataTree(sum) {
			t.Errorf("Shared(%q) = %q", name, got)
		}
	}
	if err := store.CheckID(strings.TrimSuffix(store.Data(), "/")); err == nil {
		t.Error("a job may have the name of the directory with data")
	}
}
