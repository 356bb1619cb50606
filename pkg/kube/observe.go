package kube

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// snapshot is a job's objects at one moment. job is nil where there is none.
type snapshot struct {
	job    *batchv1.Job
	pods   map[types.UID]corev1.Pod
	events map[types.UID]corev1.Event
}

// observe calls seen with a job's objects, at first when all have been read,
// then after every change, until seen returns true.
func (c *Client) observe(ctx context.Context, id string, seen func(snapshot) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan change)
	failed := make(chan error, 3)
	start := func(s selection) {
		go func() {
			err := c.follow(ctx, s, func(ch change) {
				select {
				case changes <- ch:
				case <-ctx.Done():
				}
			})
			// Why a job waits is then told from what may be read.
			if s.kind != c.events() || !apierrors.IsForbidden(err) {
				failed <- err
			}
		}()
	}
	byID := api.LabelJobID + "=" + id
	start(selection{kind: c.jobs(), labels: byID, list: func() runtime.Object { return &batchv1.JobList{} }})
	start(selection{kind: c.pods(), labels: byID, list: func() runtime.Object { return &corev1.PodList{} }})
	now := snapshot{pods: map[types.UID]corev1.Pod{}, events: map[types.UID]corev1.Event{}}
	unread := 2
	watchingEvents := false
	for {
		select {
		case err := <-failed:
			return err
		case ch := <-changes:
			if ch.reset && unread > 0 && ch.kind != c.events() {
				unread--
			}
			now.apply(ch)
		}
		if unread > 0 {
			continue
		}
		if seen(now) {
			return nil
		}
		if now.job != nil && !watchingEvents && stateOf(now.job, now.list()).State == api.Pending {
			// Events tell why a job waits; one that runs needs none.
			watchingEvents = true
			start(selection{kind: c.events(), list: func() runtime.Object { return &corev1.EventList{} }})
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

// get reads a job's objects once.
func (c *Client) snapshot(ctx context.Context, id string) (snapshot, error) {
	byID := metav1.ListOptions{LabelSelector: api.LabelJobID + "=" + id}
	now := snapshot{pods: map[types.UID]corev1.Pod{}}
	var jobs batchv1.JobList
	var pods corev1.PodList
	errs := make(chan error, 1)
	go func() { errs <- c.list(ctx, c.pods(), byID, &pods) }()
	err := errors.Join(c.list(ctx, c.jobs(), byID, &jobs), <-errs)
	for i := range jobs.Items {
		now.job = &jobs.Items[i]
	}
	for _, p := range pods.Items {
		now.pods[p.UID] = p
	}
	return now, err
}
