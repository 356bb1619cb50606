package kube

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// Cluster lists, watches and ends the jobs of a cluster. A Submission starts one.
type Cluster struct {
	client *Client
	// discovered is where objects of kinds belong that only some clusters have.
	discovered map[schema.GroupVersionKind]collection

	mu      sync.Mutex
	watches map[watched]*sharedWatch

	aroundMu sync.Mutex
	around   around
}

// Config returns how the API server is reached, for connections to pods.
func (c *Cluster) Config() *rest.Config { return c.client.config }

// New returns a Cluster.
func New(c *Client) *Cluster {
	return &Cluster{client: c, discovered: map[schema.GroupVersionKind]collection{}, watches: map[watched]*sharedWatch{}}
}

// Status reads the status of a job once, with why it waits. Without permission to read events or
// queues, it is what the job and its pods say.
func (c *Cluster) Status(ctx context.Context, h api.Handle) (api.WorkloadStatus, error) {
	s, err := c.client.explained(ctx, h)
	if err != nil {
		return api.WorkloadStatus{}, err
	}
	return c.status(ctx, s), nil
}

// Watch calls seen with the job's status, at once and on every change, and returns the status in
// which the job ended.
func (c *Cluster) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	var last, over api.WorkloadStatus
	told := false
	err := c.observe(ctx, h, func(s snapshot) bool {
		var now api.WorkloadStatus
		now, over = diagnose.Recall(over, c.status(ctx, s))
		if !told || !same(last, now) {
			told, last = true, now
			seen(now)
		}
		return now.State.Ended()
	})
	return last, err
}

// ServerTime converts a time of our clock to the clock of the API server. It returns the same
// time if the server has not answered yet.
func (c *Cluster) ServerTime(here time.Time) time.Time { return c.client.transport.ServerTime(here) }

func same(a, b api.WorkloadStatus) bool {
	return a.State == b.State && a.Reason == b.Reason && a.Message == b.Message && a.Attempt == b.Attempt &&
		a.Pod == b.Pod && a.Ending == b.Ending && a.UnreleasedHosts == b.UnreleasedHosts && len(a.Hashes) == len(b.Hashes) && a.Unrecoverable == b.Unrecoverable
}
