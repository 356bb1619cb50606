package report

import (
	"fmt"
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
	for differs, want := range map[bool]string{
		false: "",
		true: "JSON can't represent 1 of the values exactly, so --cleanup=delete keeps the stored values; " +
			"get them with: kubectl kinetic jobs result a1 -n ml --output-file FILE\n",
	} {
		t.Run(fmt.Sprintf("differs %t", differs), func(t *testing.T) {
			streams, _, out, said := genericiooptions.NewTestIOStreams()
			j := collectable(t, "")
			j.Handle.CallKind, j.Handle.Map, j.Handle.Namespace = api.CallPickle, &api.Map{Inputs: 2, Chunk: 1}, "ml"
			j.Backend = jobtest.Backend{State: api.Succeeded}
			for name, text := range map[string]string{
				"end.json":       `{"version":1,"state":"SUCCEEDED","reason":"Completed","by":"client"}`,
				"results/0.json": fmt.Sprintf(`{"version":1,"ok":true,"pickled":"c21hbGw=","differs":%t,"value":"<Model>"}`, differs),
				"results/1.json": `{"version":1,"ok":true,"pickled":"c21hbGw=","value":1}`,
			} {
				if err := j.Store.Create(t.Context(), "a1/"+name, strings.NewReader(text), nil); err != nil {
					t.Fatal(err)
				}
			}
			err := CollectMap(t.Context(), t.Context(), streams, ui.New(streams.ErrOut, time.Now), j, Collection{Cleanup: DeleteResult})
			if err != nil || out.String() != "\"<Model>\"\n1\n" || said.String() != want {
				t.Errorf("%v, printed %q, said %q; want %q", err, out, said, want)
			}
			if exist, err := j.Results().Exist(t.Context()); err != nil || exist != differs {
				t.Errorf("the values exist: %t, %v", exist, err)
			}
			if collected, err := j.Collected(t.Context()); err != nil || !collected {
				t.Errorf("the workload was deleted: %t, %v", collected, err)
			}
		})
	}
}
