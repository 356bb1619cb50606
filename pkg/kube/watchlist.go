package kube

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
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
	selections := w.listed(detail)
	failed := make(chan error, len(selections))
	unread := map[kind]bool{}
	for _, s := range selections {
		unread[s.kind] = true
		go func() {
			failed <- w.client.followPart(ctx, s, func(ch change) {
				select {
				case changes <- ch:
				case <-ctx.Done():
				}
			})
		}()
	}
	known := newInventory(detail, w.client.now)
	for {
		select {
		case err := <-failed:
			return err
		case ch := <-changes:
			keys := known.apply(ch)
			first := unread[ch.kind]
			delete(unread, ch.kind)
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
	objects, events := w.client.selections(allJobs)
	switch detail {
	case api.TellNames:
		return slices.DeleteFunc(objects, func(s selection) bool { return s.kind == w.client.pods() })
	case api.TellStates:
		return objects
	default:
		return append(objects, events)
	}
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
