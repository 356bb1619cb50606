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
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// ofJob returns the selections of one job. Only what matters for the state of its pods is kept. For
// a job that is known to be a Job, no permission to see LeaderWorkerSets is needed.
func (c *Client) ofJob(h api.Handle) []selection {
	parts := c.selections(api.LabelJobID + "=" + h.JobID)
	if isJob(h) {
		parts = slices.DeleteFunc(parts, func(s selection) bool { return s.kind.workload != nil && s.kind.workload != diagnose.Job })
	}
	for i := range parts {
		if parts[i].kind == c.pods() {
			parts[i].keep = trimmed
		}
		parts[i].needed = h.K8sName != "" && !isJob(h) && parts[i].kind.workload != nil
	}
	return parts
}

// isJob reports whether a handle is known to be that of a Job of Kubernetes. The handle may be
// lost, and then nothing is known.
func isJob(h api.Handle) bool { return strings.HasPrefix(h.K8sName, api.JobNamePrefix) }

func (c *Client) selections(labels string) []selection {
	var all []selection
	for _, k := range diagnose.Kinds {
		all = append(all, selection{kind: c.workloads(k), labels: labels, list: listOf(k)})
	}
	return append(all, selection{kind: c.pods(), labels: labels, list: func() runtime.Object { return &corev1.PodList{} }})
}

func listOf(k *diagnose.Kind) func() runtime.Object {
	if k == diagnose.Job {
		return func() runtime.Object { return &batchv1.JobList{} }
	}
	return func() runtime.Object { return &metav1.PartialObjectMetadataList{} }
}

// reasons returns the selections of the objects that say why jobs wait: events and, if jobs are
// in queues, the Workloads of Kueue.
func (c *Client) reasons(queued bool) []selection {
	all := []selection{{kind: c.events(), list: func() runtime.Object { return &corev1.EventList{} }}}
	if queued {
		all = append(all, selection{kind: c.kueueWorkloads(), list: func() runtime.Object { return &kueue.WorkloadList{} }})
	}
	return all
}

// reasonsOf returns the selection of the objects that say why a job waits at the moment: its Kueue
// Workload while it waits in a queue, otherwise events, of a single object if only those matter.
func (c *Client) reasonsOf(known *cache, job key) []selection {
	now := known.snapshot(job)
	o := diagnose.Observation{Workload: now.Workload, Pods: now.list()}
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

// observe calls seen with a job's objects, first when all parts have been read, then after every
// change, until seen returns true.
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
	there := false // the job was seen, and may be removed
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

// reasons follows the objects that say why a job waits.
type reasons struct {
	client   *Client
	failed   chan<- error
	changes  chan change // only of the selections that are followed now
	followed []selection
	stop     func()
}

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

// How long it takes to evaluate a job, per pod and at most.
const (
	lookTime    = 10 * time.Microsecond
	longestLook = 100 * time.Millisecond
)

// gather applies the changes that come soon after a change. If a job has thousands of pods, some
// change all the time, and evaluating the job after each change would take too long.
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

// send follows a selection until ctx is done. It sends each change to changes, and an error to
// failed.
func (c *Client) send(ctx context.Context, s selection, changes chan<- change, failed chan<- error) {
	go func() {
		err := c.followPart(ctx, s, func(ch change) {
			select {
			case changes <- ch:
			case <-ctx.Done():
			}
		})
		if ctx.Err() != nil {
			return // it was stopped, and has not failed
		}
		select {
		case failed <- err:
		case <-ctx.Done():
		}
	}()
}

// about returns a function that keeps the events about a workload and its parts, and about claims,
// which its pods may mount, and its Kueue Workloads.
func about(workload *metav1.ObjectMeta) func(runtime.Object) runtime.Object {
	return func(o runtime.Object) runtime.Object {
		switch o := o.(type) {
		case *corev1.Event:
			if o.InvolvedObject.Kind == "PersistentVolumeClaim" || diagnose.MayBePartOf(o.InvolvedObject, workload.Name) {
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

// snapshot reads a job's objects once, without those that say why it waits.
func (c *Client) snapshot(ctx context.Context, h api.Handle) (snapshot, error) {
	known := newCache()
	err := c.readInto(ctx, known, c.ofJob(h))
	now := known.snapshot(c.keyOf(h))
	if err != nil {
		return now, err
	}
	return now, now.unseen()
}

// explained reads a job's objects once and, if it waits, those that say why. Without permission to
// read events or queues it returns what can be read.
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
	if known.withoutKueue { // events say less, but better than nothing
		if err := c.readInto(ctx, known, c.reasonsOf(known, job)); err != nil {
			return snapshot{}, err
		}
	}
	return known.snapshot(job), nil
}

// readInto reads selections once, at the same time. After an error it applies none of them.
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

// keyOf returns the key of a job. A client for all namespaces takes the namespace of the handle.
func (c *Client) keyOf(h api.Handle) key {
	return key{cmp.Or(c.namespace, h.Namespace), h.JobID}
}
