package jobs

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// What a state does not say stands beside it, for people.
func TestTellWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		status api.Status
		json   bool
		want   string
	}{
		"one that waits":               {api.Status{State: api.Pending, Message: "no node has room"}, false, "job a1 is waiting: no node has room\n"},
		"one that waits, for programs": {api.Status{State: api.Pending, Message: "no node has room"}, true, ""},
		"one that has just begun":      {api.Status{State: api.Pending}, false, ""},
		"one that is gone":             {api.Status{State: api.NotFound, End: "ended SUCCEEDED"}, false, "job a1 ended SUCCEEDED\n"},
		"one that runs":                {api.Status{State: api.Running, Message: "attempt 2"}, false, ""},
	} {
		streams, _, _, said := genericiooptions.NewTestIOStreams()
		o := statusOptions{command: &command{streams: streams}, json: tt.json}
		if o.tellWhy(statusJSON{ID: "a1", Status: tt.status}); said.String() != tt.want {
			t.Errorf("%s: said %q, want %q", name, said, tt.want)
		}
	}
}
