package kube

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// List describes all jobs of the namespace. It lists each kind of object once, all at the same
// time, and of each object keeps only what is shown.
func (c *Cluster) List(ctx context.Context, level api.ListLevel) ([]api.JobSummary, error) {
	known := newCache()
	if err := c.client.readInto(ctx, known, c.listed(level, joblist.Selector)); err != nil {
		return nil, err
	}
	c.leftOut(known.denied)
	if len(known.workloads) == 0 {
		return nil, c.client.missingNamespace(ctx)
	}
	if level >= api.ListReasons {
		if waits, queued := known.waiting(); waits {
			if err := c.client.readInto(ctx, known, c.explaining(queued)); err != nil {
				return nil, err
			}
		}
	}
	return c.summaries(ctx, known, known.all(), level), nil
}

// waiting reports whether something of a job has not started yet, and whether one of those jobs is
// in a queue.
func (c *cache) waiting() (waits, queued bool) {
	for k := range c.workloads {
		if s := c.snapshot(k); s.waits() {
			waits, queued = true, queued || s.Queue() != ""
		}
	}
	return waits, queued
}

// summaries describes some jobs. A job without a workload is NotFound.
func (c *Cluster) summaries(ctx context.Context, known *cache, keys []key, level api.ListLevel) []api.JobSummary {
	summaries := make([]api.JobSummary, 0, len(keys))
	for _, k := range keys {
		s := known.snapshot(k)
		if !s.Exists() {
			summaries = append(summaries, api.JobSummary{ID: k.id, Namespace: k.namespace, State: api.NotFound, Status: api.Status{State: api.NotFound}})
			continue
		}
		var now api.WorkloadStatus
		switch {
		case level >= api.ListReasons:
			now = c.status(ctx, s)
		case level >= api.ListStates:
			now = s.State(s.list())
		}
		summaries = append(summaries, joblist.Summary(s.Workload, s.list(), now))
	}
	return summaries
}

// leftOut warns that a list may lack jobs on several hosts, because of an error.
func (c *Cluster) leftOut(denied error) {
	if denied != nil {
		c.client.transport.Say("jobs on several hosts, if any, are not listed: %v", denied)
	}
}

// listed returns the selections of the objects of jobs that a level needs. Of each object only what
// a list shows is kept.
func (c *Cluster) listed(level api.ListLevel, labels string) []selection {
	objects := c.client.selections(labels)
	if level == api.ListNames {
		objects = slices.DeleteFunc(objects, func(s selection) bool { return s.kind == c.client.pods() })
	}
	for i := range objects {
		objects[i].keep, objects[i].detail = trimmed, joblist.Slim
	}
	return objects
}

// explaining returns the selections of the objects that say why jobs wait. queued says that some are
// in queues.
func (c *Cluster) explaining(queued bool) []selection {
	all := c.client.reasons(queued)
	for i := range all {
		all[i].keep = trimmed
	}
	return all
}

// trimmed returns an object with only what a list shows, nil if the object is not about a job.
func trimmed(o runtime.Object) runtime.Object {
	switch o := o.(type) {
	case *batchv1.Job:
		return joblist.Job(o)
	case *corev1.Pod:
		return joblist.Pod(o)
	case *corev1.Event:
		if !diagnose.MayBeOfJob(o.InvolvedObject) {
			return nil
		}
	case *kueue.Workload:
		return trimmedKueueWorkload(o)
	}
	return o
}

// trimmedKueueWorkload returns what a list needs of a Kueue Workload, nil if that is not of a job.
func trimmedKueueWorkload(w *kueue.Workload) runtime.Object {
	ours := slices.ContainsFunc(w.OwnerReferences, func(r metav1.OwnerReference) bool { return diagnose.IsJobName(r.Name) })
	if !ours {
		return nil
	}
	w.ManagedFields = nil
	return w
}
