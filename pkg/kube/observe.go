package kube

import (
	"context"
	"maps"
	"slices"
	"time"

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
	pods   map[types.UID]*corev1.Pod // there may be thousands, which are not copied
	events map[types.UID]corev1.Event
	turns  map[types.UID]turn
	denied error        // to see whether there is a LeaderWorkerSet
	sorted []corev1.Pod // what list gives, nil before it is asked
}

// unseen is why nobody can say that there is no job; nil where there is one.
func (s snapshot) unseen() error {
	if s.exists() {
		return nil
	}
	return s.denied
}

func newSnapshot() snapshot {
	return snapshot{pods: map[types.UID]*corev1.Pod{}, events: map[types.UID]corev1.Event{}, turns: map[types.UID]turn{}}
}

// ofJob are the selections of one job, of whose pods no more is kept than tells how
// they stand.
func (c *Client) ofJob(id string) []selection {
	parts := c.selections(api.LabelJobID + "=" + id)
	for i := range parts {
		if parts[i].kind == c.pods() {
			parts[i].keep = trimmed
		}
	}
	return parts
}

// OfJobs is the same for what is known to be a Job: it does not look for
// LeaderWorkerSets, and starts nothing.
func (w *Workload) OfJobs() *Workload {
	c := *w.client
	c.setless = true
	return New(&c, nil)
}

// selections are what tells of jobs whose objects have the labels.
func (c *Client) selections(labels string) []selection {
	all := []selection{
		{kind: c.jobs(), labels: labels, list: func() runtime.Object { return &batchv1.JobList{} }},
		{kind: c.sets(), labels: labels, list: func() runtime.Object { return &metav1.PartialObjectMetadataList{} }},
		{kind: c.pods(), labels: labels, list: func() runtime.Object { return &corev1.PodList{} }},
	}
	if c.setless {
		all = slices.Delete(all, 1, 2)
	}
	return all
}

// reasons are what tells why jobs wait. Of jobs in a queue those are Kueue's
// Workloads too.
func (c *Client) reasons(queued bool) []selection {
	all := []selection{{kind: c.events(), list: func() runtime.Object { return &corev1.EventList{} }}}
	if queued {
		all = append(all, selection{kind: c.turns(), list: func() runtime.Object { return &turnList{} }})
	}
	return all
}

// reasonsOf are the reasons of one job.
func (c *Client) reasonsOf(o owner) []selection {
	all := c.reasons(o.queue() != "")
	for i := range all {
		all[i].keep = about(o.meta())
	}
	return all
}

// observe calls seen with a job's objects, at first when all of the parts have been
// read, then after every change, until seen returns true.
func (c *Client) observe(ctx context.Context, parts []selection, seen func(snapshot) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan change)
	failed := make(chan error)
	unread := map[kind]bool{}
	for _, s := range parts {
		unread[s.kind] = true
		c.send(ctx, s, changes, failed)
	}
	now := newSnapshot()
	there := false // a job was seen, which may go
	var reasons []selection
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
		there = there || now.exists()
		if err := now.unseen(); err != nil && !there {
			return err
		}
		now.gather(changes)
		waits := now.waits()
		if seen(now) {
			return nil
		}
		// A job that runs needs no reasons.
		switch {
		case waits && explaining == nil:
			waiting, stop := context.WithCancel(ctx)
			explaining, reasons = stop, c.reasonsOf(now.owner)
			for _, s := range reasons {
				c.send(waiting, s, changes, failed)
			}
		case !waits && explaining != nil:
			explaining()
			explaining = nil
			for _, s := range reasons {
				now.forget(s.kind)
			}
		}
	}
}

// What it takes to look at a job, for each of its pods, and at most.
const (
	lookTime    = 10 * time.Microsecond
	longestLook = 100 * time.Millisecond
)

// gather takes in what comes soon after a change. Thousands of pods change all the
// time, and to look at them after each would take more than that.
func (s *snapshot) gather(changes <-chan change) {
	enough := time.After(min(time.Duration(len(s.pods))*lookTime, longestLook))
	for {
		select {
		case ch := <-changes:
			s.apply(ch)
		case <-enough:
			return
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

// about keeps the events about a workload and its parts, and its turns.
func about(workload *metav1.ObjectMeta) func(runtime.Object) runtime.Object {
	return func(o runtime.Object) runtime.Object {
		switch o := o.(type) {
		case *corev1.Event:
			if slices.Contains(ownerNames(o.InvolvedObject), workload.Name) {
				return o
			}
		case *turn:
			if o.isOf(workload.UID) {
				return o
			}
		}
		return nil
	}
}

// apply takes a change into the snapshot.
func (s *snapshot) apply(ch change) {
	s.sorted = nil
	objects := ch.all
	if ch.reset {
		s.forget(ch.kind)
		if ch.denied != nil {
			s.denied = ch.denied
		}
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
			s.pods[o.UID] = o
			if ch.deleted {
				delete(s.pods, o.UID)
			}
		case *corev1.Event:
			s.events[o.UID] = *o
			if ch.deleted {
				delete(s.events, o.UID)
			}
		case *turn:
			s.turns[o.UID] = *o
			if ch.deleted {
				delete(s.turns, o.UID)
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
	case "workloads":
		clear(s.turns)
	}
}

// waits tells whether there is a job of which something has yet to start.
func (s *snapshot) waits() bool {
	pods := s.list()
	return s.exists() && s.owner.waits(s.status(pods), pods)
}

// list are the pods, by attempt. Nobody changes it: others have it, too.
func (s *snapshot) list() []corev1.Pod {
	if s.sorted == nil {
		// They are large: what is moved about is where they are.
		byAge := slices.SortedFunc(maps.Values(s.pods), compareAges)
		s.sorted = make([]corev1.Pod, len(byAge))
		for i, p := range byAge {
			s.sorted[i] = *p
		}
	}
	return s.sorted
}

// snapshot reads a job's objects once, but for what tells why it waits.
func (c *Client) snapshot(ctx context.Context, id string) (snapshot, error) {
	now := newSnapshot()
	if err := c.readInto(ctx, &now, c.ofJob(id)); err != nil {
		return now, err
	}
	return now, now.unseen()
}

// readInto reads parts of a snapshot once, at the same time. What could be read is
// there beside an error.
func (c *Client) readInto(ctx context.Context, now *snapshot, parts []selection) error {
	changes := make([]change, len(parts))
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range parts {
		g.Go(func() (err error) {
			changes[i], err = c.readPart(ctx, s)
			return err
		})
	}
	err := g.Wait()
	for _, ch := range changes {
		if ch.reset {
			now.apply(ch)
		}
	}
	return err
}
