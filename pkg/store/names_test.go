package store_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestNames(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for want, got := range map[string]string{
		"blobs/sha256/ab/" + sum: store.Blob(sum),
		"j/handle.json":          store.Handle("j"),
		"j/call.json":            store.Call("j"),
		"j/result.json":          store.Result("j"),
		"j/result.pkl":           store.PythonResult("j"),
		"j/value.pkl":            store.Pickle("j", "../../value.pkl"),
		"j/end.json":             store.End("j"),
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
		strings.Repeat("a", 51):             "want 2 to 50",
		"":                                  "want 2 to 50",
		"a":                                 "want 2 to 50",
		"-a":                                "want 2 to 50",
		"a-":                                "want 2 to 50",
		"../x":                              "want 2 to 50",
		"a/b":                               "want 2 to 50",
		"A1":                                "want 2 to 50",
		"ab\n":                              "want 2 to 50",
		"blobs":                             "reserved",
		"outputs":                           "reserved",
		"default":                           "reserved",
		"_groups":                           "want 2 to 50",
	} {
		err := store.CheckID(id)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CheckID(%q) = %v, want %q", id, err, want)
		}
	}
}
