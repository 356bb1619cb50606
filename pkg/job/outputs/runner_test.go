package outputs

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

// inRunner returns what the value of a Python expression is for an index that was written here; found is its Document.
func inRunner[T any](t *testing.T, x index, expression string) T {
	t.Helper()
	data, err := x.encode()
	if err != nil {
		t.Fatal(err)
	}
	text, err := unzip(data)
	if err != nil {
		t.Fatal(err)
	}
	return runnertest.Eval[T](t, "[("+expression+") for found in [Document.from_json(json.loads("+strconv.QuoteToASCII(string(text))+"), 'index')]][0]", "outputs.index")
}

// An index that was tidied up here is read by the runner that resumes.
func TestRunnerReadsIndexes(t *testing.T) {
	target := anyPath("last.pt")
	files := []entry{
		{Path: "last.pt", Size: 5, SHA256: hashOf("state"), Mode: 0o644, Modified: 1, Object: "sync/0/aa", Since: 3},
		{Path: "_SUCCESS", SHA256: hashOf("")},
		{Path: "logs", Directory: true},
		{Path: "best.pt", Link: &target},
	}
	want := map[string]string{
		"last.pt":  `["file", 5, 420, 1, null, "sync/0/aa", 3]`,
		"_SUCCESS": `["file", 0, 0, 0, null, "", 0]`,
		"logs":     `["folder", 0, 0, 0, null, "", 0]`,
		"best.pt":  `["link", 0, 511, 0, "last.pt", "", 0]`,
	}
	const shown = "{path: json.dumps([e.kind, e.size, e.mode, e.mtime, e.target, e.object, e.since]) for path, e in "
	x := index{Version: api.Contract.Versions.OutputsIndex, Files: files}
	if diff := cmp.Diff(want, inRunner[map[string]string](t, x, shown+"found.entries.items()}")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	x = index{Version: api.Contract.Versions.OutputsIndex}
	for _, e := range files {
		x.Before = append(x.Before, past{e, 7})
	}
	if diff := cmp.Diff(want, inRunner[map[string]string](t, x, shown+"((past.path, past.entry) for past in found.before)}")); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
}

// A runner of an earlier version requires the numbers of a file.
func TestIndexHasZeros(t *testing.T) {
	data, err := json.Marshal(past{entry{Path: "_SUCCESS", SHA256: "aa"}, 7})
	if want := `{"path":"_SUCCESS","size":0,"sha256":"aa","mode":0,"mtime_ns":0,"until_ns":7}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v; want %s", data, err, want)
	}
}
