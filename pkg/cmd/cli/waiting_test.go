package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

func TestTellWaiting(t *testing.T) {
	tests := map[string]struct {
		status api.Status
		want   string
	}{
		"what mends it":        {api.Status{State: api.Pending, Message: "no such image", Next: "kubectl get pod"}, "PENDING     waiting: no such image\n  kubectl get pod\n"},
		"in a queue":           {api.Status{State: api.Pending, Message: "waiting in queue mine: no room"}, "PENDING     waiting in queue mine: no room\n"},
		"nobody knows why":     {api.Status{State: api.Pending}, ""},
		"it ends":              {api.Status{State: api.Pending, Message: "out of memory", Ending: true}, ""},
		"it runs":              {api.Status{State: api.Running, Message: "its node is silent"}, ""},
		"it has failed by now": {api.Status{State: api.Failed, Message: "out of memory"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			TellWaiting(ui.New(&out, time.Now), tt.status)
			if out.String() != tt.want {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
		})
	}
}
