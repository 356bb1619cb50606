package report

import (
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
)

// What a map has printed may not be the exact values: then the stored ones stay.
func TestCollectMapKeepsValuesThatItHasNotDelivered(t *testing.T) {
	const kept = "JSON can't represent 1 of the values exactly, so --cleanup=delete keeps the stored values; "
	const inStore = "1 of the values are pickled in URL/a1/results/, because JSON can't represent them exactly\n"
	for name, tt := range map[string]struct {
		kind  api.CallKind
		first string // members of the first result
		want  string // "" if the values are deleted
	}{
		"a pickled call":                       {api.CallPickle, `"pickled":"c21hbGw=","differs":false`, ""},
		"a pickled call whose JSON differs":    {api.CallPickle, `"pickled":"c21hbGw=","differs":true`, kept + "get them with: kubectl kinetic jobs result a1 -n ml --output-file FILE\n"},
		"a function":                           {api.CallFunction, `"differs":false`, ""},
		"a function whose JSON differs":        {api.CallFunction, `"pickle":"results/0.pkl","differs":true`, inStore + kept + "delete them with: kubectl kinetic jobs cleanup a1 -n ml\n"},
		"a function whose value has no pickle": {api.CallFunction, `"differs":true`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, out, said := genericiooptions.NewTestIOStreams()
			j := collectable(t, "")
			j.Handle.CallKind, j.Handle.Map, j.Handle.Namespace = tt.kind, &api.Map{Inputs: 2, Chunk: 1}, "ml"
			j.Backend = jobtest.Backend{State: api.Succeeded}
			for name, text := range map[string]string{
				"end.json":       `{"version":1,"state":"SUCCEEDED","reason":"Completed","by":"client"}`,
				"results/0.json": `{"version":1,"ok":true,` + tt.first + `,"value":"<Model>"}`,
				"results/1.json": `{"version":1,"ok":true,"value":1}`,
			} {
				if err := j.Store.Create(t.Context(), "a1/"+name, strings.NewReader(text), nil); err != nil {
					t.Fatal(err)
				}
			}
			want := strings.ReplaceAll(tt.want, "URL", j.Store.URL())
			err := CollectMap(t.Context(), t.Context(), streams, ui.New(streams.ErrOut, time.Now), j, Collection{Cleanup: DeleteResult})
			if err != nil || out.String() != "\"<Model>\"\n1\n" || said.String() != want {
				t.Errorf("%v, printed %q, said %q; want %q", err, out, said, want)
			}
			if exist, err := j.Results().Exist(t.Context()); err != nil || exist != (tt.want != "") {
				t.Errorf("the values exist: %t, %v", exist, err)
			}
			if collected, err := j.Collected(t.Context()); err != nil || !collected {
				t.Errorf("the workload was deleted: %t, %v", collected, err)
			}
		})
	}
}
