package kube

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kueue"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// ofJob are the selections of one job, whose pods are kept without what has nothing to do with
// how they stand. Who is known to have a Job needs no right to see LeaderWorkerSets.
func (c *Client) ofJob(h api.Handle) []selection {
	parts := c.selections(api.LabelJobID + "=" + h.JobID)
	if isJob(h) {
		parts = slices.DeleteFunc(parts, func(s selection) bool { return s.kind.workload != nil && s.kind.workload != status.Job })
	}
	for i := range parts {
		if parts[i].kind == c.pods() {
			parts[i].keep = trimmed
		}
	}
	return parts
}

// isJob reports whether a handle returns that of a Job of Kubernetes. One that was lost does not say.
func isJob(h api.Handle) bool { return strings.HasPrefix(h.K8sName, api.JobNamePrefix) }

// selections are the workloads and pods of jobs whose objects have the labels.
func (c *Client) selections(labels string) []selection {
	var all []selection
	for _, k := range status.Kinds {
		all = append(all, selection{kind: c.workloads(k), labels: labels, list: listOf(k)})
	}
	return append(all, selection{kind: c.pods(), labels: labels, list: func() runtime.Object { return &corev1.PodList{} }})
}

// listOf makes empty lists of a kind of workload.
func listOf(k *status.Kind) func() runtime.Object {
	if k == status.Job {
		return func() runtime.Object { return &batchv1.JobList{} }
	}
	return func() runtime.Object { return &metav1.PartialObjectMetadataList{} }
}

// reasons are what says why jobs wait. Of jobs in a queue those are Kueue's
// Workloads too.
func (c *Client) reasons(queued bool) []selection {
	all := []selection{{kind: c.events(), list: func() runtime.Object { return &corev1.EventList{} }}}
	if queued {
		all = append(all, selection{kind: c.kueueWorkloads(), list: func() runtime.Object { return &kueue.WorkloadList{} }})
	}
	return all
}

// reasonsOf are what says why one job waits as it does now: its Kueue Workload while a queue
// holds it back, or else events, of one object where no others count.
func (c *Client) reasonsOf(known *cache, job key) []selection {
	now := known.snapshot(job)
	o := status.Observation{Workload: now.Workload, Pods: now.list()}
	all := c.reasons(true)
	events, kueue := all[:1], all[1:]
	reasons := events
	if o.IsQueued() && !known.withoutKueue {
		reasons = kueue
	} else if name := o.EventsAbout(); name != "" {
		events[0].fields = "involvedObject.name=" + name
	}
	reasons[0].keep = about(now.Meta())
	return reasons
}

// observe calls seen with a job's objects, at first when all of the parts have been
// read, then after every change, until seen returns true.
func (c *Client) observe(ctx context.Context, h api.Handle, parts []selection, seen func(snapshot) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan change)
	failed := make(chan error)
	unread := map[kind]bool{}
	for _, s := range parts {
		unread[s.kind] = true
		c.send(ctx, s, changes, failed)
	}
	known, job := newCache(), c.keyOf(h)
	there := false // a job was seen, which may go
	why := &reasons{client: c, failed: failed, stop: func() {}}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case ch := <-changes:
			delete(unread, ch.kind)
			known.apply(ch)
		case ch := <-why.changes:
			known.apply(ch)
		}
		if len(unread) > 0 {
			continue
		}
		there = there || known.workloads[job].Exists()
		if err := known.denied; err != nil && !there {
			return err
		}
		known.gather(changes, why.changes, len(known.pods[job]))
		now := known.snapshot(job)
		waits := now.waits()
		if seen(now) {
			return nil
		}
		if waits {
			why.follow(ctx, known, c.reasonsOf(known, job))
		} else { // a job that runs needs no reasons
			why.follow(ctx, known, nil)
		}
	}
}

// reasons is the following of what says why a job waits.
type reasons struct {
	client   *Client
	failed   chan<- error
	changes  chan change // of what is followed now: nothing comes from what was before
	followed []selection
	stop     func()
}

// follow follows some selections from now on, and no others.
func (r *reasons) follow(ctx context.Context, known *cache, wanted []selection) {
	same := func(a, b selection) bool { return a.kind == b.kind && a.fields == b.fields }
	if slices.EqualFunc(r.followed, wanted, same) {
		return
	}
	r.stop()
	for _, s := range r.followed {
		if !slices.ContainsFunc(wanted, func(w selection) bool { return w.kind == s.kind }) {
			known.forget(s.kind)
		}
	}
	ctx, r.stop = context.WithCancel(ctx)
	r.followed, r.changes = wanted, make(chan change)
	for _, s := range wanted {
		r.client.send(ctx, s, r.changes, r.failed)
	}
}

// What it takes to look at a job, for each of its pods, and at most.
const (
	lookTime    = 10 * time.Microsecond
	longestLook = 100 * time.Millisecond
)

// gather takes in what comes soon after a change. Thousands of pods change all the
// time, and to look at them after each would take more than that.
func (c *cache) gather(changes, reasons <-chan change, pods int) {
	enough := time.After(min(time.Duration(pods)*lookTime, longestLook))
	for {
		select {
		case ch := <-changes:
			c.apply(ch)
		case ch := <-reasons:
			c.apply(ch)
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
			return // no one wants it any more, which is not a failure
		}
		select {
		case failed <- err:
		case <-ctx.Done():
		}
	}()
}

// about keeps the events about a workload and its parts, and its Kueue Workloads.
func about(workload *metav1.ObjectMeta) func(runtime.Object) runtime.Object {
	return func(o runtime.Object) runtime.Object {
		switch o := o.(type) {
		case *corev1.Event:
			if slices.Contains(status.WorkloadNames(o.InvolvedObject), workload.Name) {
				return o
			}
		case *kueue.Workload:
			if o.IsOf(workload.UID) {
				return o
			}
		}
		return nil
	}
}

// snapshot reads a job's objects once, but for what says why it waits.
func (c *Client) snapshot(ctx context.Context, h api.Handle) (snapshot, error) {
	known := newCache()
	err := c.readInto(ctx, known, c.ofJob(h))
	now := known.snapshot(c.keyOf(h))
	if err != nil {
		return now, err
	}
	return now, now.unseen()
}

// explained reads a job's objects once and, where it waits, what says why. Who may not read
// events or queues gets what can be read.
func (c *Client) explained(ctx context.Context, h api.Handle) (snapshot, error) {
	known, job := newCache(), c.keyOf(h)
	if err := c.readInto(ctx, known, c.ofJob(h)); err != nil {
		return snapshot{}, err
	}
	now := known.snapshot(job)
	if !now.waits() {
		return now, now.unseen()
	}
	if err := c.readInto(ctx, known, c.reasonsOf(known, job)); err != nil {
		return snapshot{}, err
	}
	if known.withoutKueue { // events say less, and something
		if err := c.readInto(ctx, known, c.reasonsOf(known, job)); err != nil {
			return snapshot{}, err
		}
	}
	return known.snapshot(job), nil
}

// readInto reads selections once, at the same time, and takes them in all or none.
func (c *Client) readInto(ctx context.Context, into *cache, selections []selection) error {
	lists := make([]change, len(selections))
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range selections {
		g.Go(func() (err error) {
			lists[i], err = c.readPart(ctx, s)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, list := range lists {
		into.apply(list)
	}
	return nil
}

// keyOf is where the objects of a job are kept. A client of all namespaces takes that of the handle.
func (c *Client) keyOf(h api.Handle) key {
	return key{cmp.Or(c.namespace, h.Namespace), h.JobID}
}
