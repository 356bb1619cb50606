package kube

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// Cluster is the jobs of a cluster: it starts, watches and ends them by id.
type Cluster struct {
	client *Client
	// objects are what Start applies: exactly what a dry-run shows, but that hosts wait for
	// their key.
	objects []*unstructured.Unstructured
	// discovered is where objects of rare kinds go.
	discovered map[schema.GroupVersionKind]collection
	// ready says that what the job shares is there.
	ready bool
	// keyComes says that the job's Secret can be made, so that its hosts can wait for their key.
	keyComes bool
	// mayGo are shared objects that a cleanup may remove before the workload exists.
	mayGo []*unstructured.Unstructured

	mu    sync.Mutex
	feeds map[string]*feed // by the ids of jobs
}

// New makes a Cluster. objects are those of the job that Start will start;
// nothing else needs them.
func New(c *Client, objects []*unstructured.Unstructured) *Cluster {
	return &Cluster{client: c, objects: objects, discovered: map[schema.GroupVersionKind]collection{}, feeds: map[string]*feed{}}
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
