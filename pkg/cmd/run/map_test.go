package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// An older map that lacks nothing is only read: it stays, as who ran it
// has left it, unless its removal is asked for.
func TestResumedMapWithNothingMissing(t *testing.T) {
	for name, tt := range map[string]struct {
		wait          waiting
		kept, stopped bool
	}{
		"no word of a cleanup":   {waiting{cleanup: report.RemoveWorkload}, true, false},
		"a cleanup is asked for": {waiting{cleanupOlder: report.RemoveWorkload}, true, true},
		"of the values, too":     {waiting{cleanupOlder: report.DeleteResult}, false, true},
		"or refused":             {waiting{}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := store.OpenFile("file://" + t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var stopped bool
			old := &job.Job{Handle: api.Handle{JobID: "m1", Map: &api.Map{Inputs: 2, Chunk: 1}}, Store: kept, Backend: jobtest.Backend{State: api.Succeeded, Deleted: func(api.Handle) error {
				stopped = true
				return nil
			}}}
			for input := range 2 {
				result := strings.NewReader(fmt.Sprintf(`{"version":1,"ok":true,"value":%d}`, input))
				if err := kept.Create(t.Context(), store.ResultOf("m1", input), result, nil); err != nil {
					t.Fatal(err)
				}
			}
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			o := &options{streams: streams, ui: ui.New(errOut, time.Now), clock: clock.RealClock{}, wait: tt.wait}
			if err := o.again(t.Context(), old); err != nil || out.String() != "0\n1\n" {
				t.Errorf("got %q, %v", out.String(), err)
			}
			results := 0
			for _, err := range kept.List(t.Context(), store.Results("m1"), "") {
				if err != nil {
					t.Fatal(err)
				}
				results++
			}
			if (results == 2) != tt.kept || stopped != tt.stopped {
				t.Errorf("%d results are left; the workload was removed: %v", results, stopped)
			}
		})
	}
}
