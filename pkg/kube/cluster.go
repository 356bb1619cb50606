package kube

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// Cluster is the jobs of a cluster: it lists, watches and ends them. A Submission starts one.
type Cluster struct {
	client *Client
	// discovered is where objects of rare kinds go.
	discovered map[schema.GroupVersionKind]collection

	mu      sync.Mutex
	watches map[watched]*sharedWatch
}

// New makes a Cluster.
func New(c *Client) *Cluster {
	return &Cluster{client: c, discovered: map[schema.GroupVersionKind]collection{}, watches: map[watched]*sharedWatch{}}
}

// Status reads once how a job stands, with what says why it waits. Who may not
// read events or queues is told what the job and its pods say.
func (c *Cluster) Status(ctx context.Context, h api.Handle) (api.WorkloadStatus, error) {
	s, err := c.client.explained(ctx, h)
	if err != nil {
		return api.WorkloadStatus{}, err
	}
	return c.status(s), nil
}

// Watch calls seen with the job's status at once and on every change, and
// returns the one that it ended in.
func (c *Cluster) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	var last, over api.WorkloadStatus
	told := false
	err := c.observe(ctx, h, func(s snapshot) bool {
		var now api.WorkloadStatus
		now, over = status.Recall(over, c.status(s))
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
func (c *Cluster) ServerTime(here time.Time) time.Time { return c.client.transport.ServerTime(here) }

// status is the job's, with why it waits where it does.
func (c *Cluster) status(s snapshot) api.WorkloadStatus { return s.observed(c.client.now()).Status() }

func same(a, b api.WorkloadStatus) bool {
	return a.State == b.State && a.Reason == b.Reason && a.Message == b.Message && a.Attempt == b.Attempt &&
		a.Pod == b.Pod && a.Ending == b.Ending && a.UnreleasedHosts == b.UnreleasedHosts && a.Unrecoverable == b.Unrecoverable
}
