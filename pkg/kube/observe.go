package kube

import (
	"context"

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
	objects, events := c.selections(api.LabelJobID + "=" + id)
	failed := make(chan error, len(objects)+1)
	start := func(s selection) {
		go func() {
			failed <- c.followPart(ctx, s, func(ch change) {
				select {
				case changes <- ch:
				case <-ctx.Done():
				}
			})
		}()
	}
	unread := map[kind]bool{}
	for _, s := range objects {
		unread[s.kind] = true
		start(s)
	}
	now := snapshot{pods: map[types.UID]corev1.Pod{}, events: map[types.UID]corev1.Event{}}
	watchingEvents := false
	for {
		select {
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
		if now.exists() && !watchingEvents && now.status(now.list()).State == api.Pending {
			// Events tell why a job waits; one that runs needs none.
			watchingEvents = true
			start(events)
		}
	}
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
	now := snapshot{pods: map[types.UID]corev1.Pod{}}
	objects, _ := c.selections(api.LabelJobID + "=" + id)
	changes := make([]change, len(objects))
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range objects {
		g.Go(func() error {
			_, err := c.relist(ctx, s, func(ch change) { changes[i] = ch })
			if s.kind.lacks(err) {
				return nil
			}
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
