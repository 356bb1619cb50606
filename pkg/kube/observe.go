package kube

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// snapshot is a job's objects at one moment.
type snapshot struct {
	owner
	pods   map[types.UID]corev1.Pod
	events map[types.UID]corev1.Event
}

// selections are what tells of jobs whose objects have the labels, and, with the
// events, why they wait.
func (c *Client) selections(labels string) (objects []selection, events selection) {
	return []selection{
			{kind: c.jobs(), labels: labels, list: func() runtime.Object { return &batchv1.JobList{} }},
			{kind: c.sets(), labels: labels, list: func() runtime.Object { return &metav1.PartialObjectMetadataList{} }},
			{kind: c.pods(), labels: labels, list: func() runtime.Object { return &corev1.PodList{} }},
		},
		selection{kind: c.events(), list: func() runtime.Object { return &corev1.EventList{} }}
}

// observe calls seen with a job's objects, at first when all have been read,
// then after every change, until seen returns true.
func (c *Client) observe(ctx context.Context, id string, seen func(snapshot) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan change)
	failed := make(chan error)
	objects, events := c.selections(api.LabelJobID + "=" + id)
	unread := map[kind]bool{}
	for _, s := range objects {
		unread[s.kind] = true
		c.send(ctx, s, changes, failed)
	}
	now := snapshot{pods: map[types.UID]corev1.Pod{}, events: map[types.UID]corev1.Event{}}
	var explaining context.CancelFunc
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case ch := <-changes:
			delete(unread, ch.kind)
			now.apply(ch)
		}
		if len(unread) > 0 {
			continue
		}
		if seen(now) {
			return nil
		}
		// Events tell why a job waits; one that runs needs none.
		waits := now.exists() && now.status(now.list()).State == api.Pending
		switch {
		case waits && explaining == nil:
			waiting, stop := context.WithCancel(ctx)
			explaining = stop
			c.send(waiting, about(events, now.meta().Name), changes, failed)
		case !waits && explaining != nil:
			explaining()
			explaining = nil
			now.forget(events.kind)
		}
	}
}

// send follows a selection until ctx is over: to changes, or to failed.
func (c *Client) send(ctx context.Context, s selection, changes chan<- change, failed chan<- error) {
	go func() {
		err := c.followPart(ctx, s, func(ch change) {
			select {
			case changes <- ch:
			case <-ctx.Done():
			}
		})
		if ctx.Err() != nil {
			return // nobody wants it any more, which is no failure
		}
		select {
		case failed <- err:
		case <-ctx.Done():
		}
	}()
}

// about chooses the events about a workload and its parts.
func about(events selection, name string) selection {
	events.keep = func(o runtime.Object) runtime.Object {
		if e, ok := o.(*corev1.Event); ok && slices.Contains(ownerNames(e.InvolvedObject), name) {
			return o
		}
		return nil
	}
	return events
}

// apply takes a change into the snapshot.
func (s *snapshot) apply(ch change) {
	objects := ch.all
	if ch.reset {
		s.forget(ch.kind)
	} else {
		objects = []runtime.Object{ch.object}
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *batchv1.Job:
			s.job = o
			if ch.deleted {
				s.job = nil
			}
		case *metav1.PartialObjectMetadata:
			s.set = o
			if ch.deleted {
				s.set = nil
			}
		case *corev1.Pod:
			s.pods[o.UID] = *o
			if ch.deleted {
				delete(s.pods, o.UID)
			}
		case *corev1.Event:
			s.events[o.UID] = *o
			if ch.deleted {
				delete(s.events, o.UID)
			}
		}
	}
}

func (s *snapshot) forget(k kind) {
	switch k.resource {
	case "jobs":
		s.job = nil
	case "leaderworkersets":
		s.set = nil
	case "pods":
		clear(s.pods)
	case "events":
		clear(s.events)
	}
}

func (s *snapshot) list() []corev1.Pod {
	pods := make([]corev1.Pod, 0, len(s.pods))
	for _, p := range s.pods {
		pods = append(pods, p)
	}
	return pods
}

// snapshot reads a job's objects once, but for events.
func (c *Client) snapshot(ctx context.Context, id string) (snapshot, error) {
	now := snapshot{pods: map[types.UID]corev1.Pod{}, events: map[types.UID]corev1.Event{}}
	objects, _ := c.selections(api.LabelJobID + "=" + id)
	changes := make([]change, len(objects))
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range objects {
		g.Go(func() error {
			all, err := c.readPart(ctx, s)
			changes[i] = change{kind: s.kind, reset: err == nil, all: all}
			return err
		})
	}
	err := g.Wait()
	for _, ch := range changes {
		if ch.reset {
			now.apply(ch)
		}
	}
	return now, err
}
