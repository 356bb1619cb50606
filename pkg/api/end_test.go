package api_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestEndMetadata(t *testing.T) {
	finished := time.Date(2026, 4, 17, 17, 30, 12, 0, time.FixedZone("", 2*3600))
	end := api.End{State: api.Failed, Reason: api.Killed, Message: "out of memory", Finished: finished}
	want := map[string]string{"state": "FAILED", "reason": "Killed", "finished": "2026-04-17T15:30:12Z"}
	if diff := cmp.Diff(want, end.Metadata()); diff != "" {
		t.Errorf("Metadata() (-want +got):\n%s", diff)
	}
}
