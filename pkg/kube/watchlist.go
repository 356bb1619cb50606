package kube

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// WatchList calls seen with all jobs of the namespace, then with those that may
// have changed, until ctx is over, seen fails, or the cluster refuses. A job
// whose Job was removed is NotFound.
func (w *Workload) WatchList(ctx context.Context, detail api.Detail, seen func([]Record) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan change)
	failed := make(chan error, 3)
	selections := w.listed(detail)
	for _, s := range selections {
		go func() { failed <- w.client.followListed(ctx, s, changes) }()
	}
	known := newInventory(detail, w.client.now)
	unread := map[string]bool{}
	for _, s := range selections {
		unread[s.kind.resource] = true
	}
	for {
		select {
		case err := <-failed:
			return err
		case ch := <-changes:
			keys := known.apply(ch)
			first := unread[ch.kind.resource]
			delete(unread, ch.kind.resource)
			if len(unread) > 0 || len(keys) == 0 && !first {
				continue
			}
			if first {
				keys = known.keys()
			}
			if err := seen(known.records(keys)); err != nil {
				return err
			}
		}
	}
}

// listed are the kinds of objects that tell as much as detail asks for.
func (w *Workload) listed(detail api.Detail) []selection {
	c := w.client
	all := []selection{
		{kind: c.jobs(), labels: allJobs, list: func() runtime.Object { return &batchv1.JobList{} }},
		{kind: c.pods(), labels: allJobs, list: func() runtime.Object { return &corev1.PodList{} }},
		{kind: c.events(), list: func() runtime.Object { return &corev1.EventList{} }},
	}
	return all[:detail+1]
}

// followListed is follow, for a kind that tells part of a list. Who may not
// read events gets none.
func (c *Client) followListed(ctx context.Context, s selection, changes chan<- change) error {
	emit := func(ch change) {
		select {
		case changes <- ch:
		case <-ctx.Done():
		}
	}
	err := c.follow(ctx, s, emit)
	if s.kind == c.events() && apierrors.IsForbidden(err) {
		emit(change{kind: s.kind, reset: true})
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// apply takes a change in, and names the jobs that it tells of.
func (n *inventory) apply(ch change) []key {
	touched := map[key]bool{}
	touch := func(k key, ok bool) {
		if ok {
			touched[k] = true
		}
	}
	switch {
	case ch.reset:
		for _, k := range n.keys() { // some may be gone
			touched[k] = true
		}
		n.forget(ch.kind)
		for _, o := range ch.all {
			touch(n.put(trimmed(o)))
		}
	case ch.deleted:
		touch(n.drop(ch.object))
	default:
		touch(n.put(trimmed(ch.object)))
	}
	keys := make([]key, 0, len(touched))
	for k := range touched {
		keys = append(keys, k)
	}
	return keys
}

// trimmed is an object with what a list tells of it.
func trimmed(o runtime.Object) runtime.Object {
	switch o := o.(type) {
	case *batchv1.Job:
		return trimmedJob(o)
	case *corev1.Pod:
		return trimmedPod(o)
	default:
		return o
	}
}
