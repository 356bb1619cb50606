package kube

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// Cluster is the jobs of a cluster: it watches and ends them by id. A Submission starts one.
type Cluster struct {
	client *Client
	// discovered is where objects of rare kinds go.
	discovered map[schema.GroupVersionKind]collection

	mu      sync.Mutex
	watches map[string]*sharedWatch // by the ids of jobs
}

// New makes a Cluster.
func New(c *Client) *Cluster {
	return &Cluster{client: c, discovered: map[schema.GroupVersionKind]collection{}, watches: map[string]*sharedWatch{}}
}

// Watch calls seen with the job's status at once and on every change, and
// returns the one that it ended in.
func (w *Cluster) Watch(ctx context.Context, id string, seen func(api.Status)) (api.Status, error) {
	var last, over api.Status
	told := false
	err := w.observe(ctx, id, func(s snapshot) bool {
		var now api.Status
		now, over = status.Recall(over, w.status(s))
		if !told || !same(last, now) {
			told, last = true, now
			seen(now)
		}
		return now.State.Ended()
	})
	return last, err
}

// ServerTime is the time by the clock of the API server when it is here by ours:
// the same, until it has answered.
func (w *Cluster) ServerTime(here time.Time) time.Time { return w.client.transport.ServerTime(here) }

// status is the job's, with why it waits where it does.
func (w *Cluster) status(s snapshot) api.Status { return s.observed(w.client.now()).Status() }

func same(a, b api.Status) bool {
	return a.State == b.State && a.Reason == b.Reason && a.Message == b.Message && a.Attempt == b.Attempt &&
		a.Pod == b.Pod && a.Ending == b.Ending && a.Holding == b.Holding && a.Hopeless == b.Hopeless
}
