package kube

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/glance"
	"github.com/kubectl-kinetic/kinetic/pkg/joblist"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// Pick describes the jobs that choose picks. It reads all Jobs as a table, and then only the
// picked ones with their pods: all of them took half a second for 5,000 jobs. If those can't be
// read, it returns them as choose got them.
func (c *Cluster) Pick(ctx context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	all, err := c.glance(ctx)
	if err != nil {
		return nil, err
	}
	picked := choose(all)
	if len(picked) == 0 {
		return nil, nil
	}
	ids := make([]string, len(picked))
	for i, e := range picked {
		ids[i] = e.ID
	}
	known := newCache()
	if err := c.client.readInto(ctx, known, c.listed(api.ListStates, jobsNamed(ids))); err != nil {
		return picked, err
	}
	return c.summaries(known, known.all(), api.ListStates), nil
}

// jobsNamed selects the objects of some jobs.
func jobsNamed(ids []string) string { return joblist.Selector + " in (" + strings.Join(ids, ",") + ")" }

// glance lists all jobs with little more than their IDs and ages. The state is known of jobs that
// have ended, and Map says that a job may be a map.
func (c *Cluster) glance(ctx context.Context) ([]api.JobSummary, error) {
	var jobs []api.JobSummary
	known := newCache()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		k := c.client.jobs()
		request := func(o *metav1.ListOptions) *rest.Request { return c.client.reading(k, "", o) }
		jobs, err = glance.Lister{Request: request, Now: c.client.now, File: c.Glance}.List(ctx)
		return c.client.explain("list", k, "", err)
	})
	g.Go(func() error {
		sets := selection{kind: c.client.workloads(status.LeaderWorkerSet), labels: joblist.Selector, list: listOf(status.LeaderWorkerSet)}
		return c.client.readInto(ctx, known, []selection{sets})
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i := range jobs {
		jobs[i].Namespace = c.client.namespace
	}
	for _, e := range c.summaries(known, known.all(), api.ListStates) { // without pods
		if !e.State.Ended() {
			e.State = ""
		}
		jobs = append(jobs, e)
	}
	return jobs, nil
}
