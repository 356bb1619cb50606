package report

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Each line has the input, its number, and the value or the error.
func TestValuesWithInputs(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := s.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	sha := strings.Repeat("ab", 32)
	write(store.Blob(sha), "{\"lr\": 0.1}\n[2]\n\"<a>\"\n4")
	write(store.ResultOf("m-1", 0), `{"version":1,"ok":true,"value":{"loss":1.50}}`)
	write(store.ResultOf("m-1", 1), `{"version":1,"ok":false,"error":{"type":"ValueError","message":"bad","traceback":"t"},"value":null}`)
	write(store.ResultOf("m-1", 2), `{"version":1,"ok":true,"value":null}`)
	j := &job.Job{Handle: api.Handle{JobID: "m-1", Map: &api.Map{Inputs: 4, Chunk: 4, InputsSHA256: sha}}, Store: s}
	results, inputs, err := Results(t.Context(), j, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = inputs.Close() }()
	ended := make(chan struct{})
	close(ended)
	var out strings.Builder
	outcome, err := results.Gather(t.Context(), ended, &out, func(records.MapProgress) {})
	const want = `{"index":0,"input":{"lr":0.1},"value":{"loss":1.50}}
{"index":1,"input":[2],"error":{"type":"ValueError","message":"bad","traceback":"t"}}
{"index":2,"input":"<a>","value":null}
{"index":3,"input":4,"error":{"message":"it has no result: the job ended before it was stored"}}
`
	if err != nil || out.String() != want || len(outcome.Failed) != 1 || len(outcome.Missing) != 1 {
		t.Errorf("%v, %+v, printed\n%s", err, outcome, &out)
	}
	j.Handle.Map.InputsSHA256 = strings.Repeat("cd", 32)
	if _, _, err := Results(t.Context(), j, true); err == nil || !strings.Contains(err.Error(), "the inputs of job m-1 were deleted") {
		t.Errorf("without its inputs: %v", err)
	}
	if _, nothing, err := Results(t.Context(), j, false); err != nil || nothing.Close() != nil {
		t.Errorf("values alone: %v", err)
	}
}
