package kube

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
	"github.com/kubectl-kinetic/kinetic/pkg/table"
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
func jobsNamed(ids []string) string { return allJobs + " in (" + strings.Join(ids, ",") + ")" }

// glance lists all jobs with little more than their IDs and ages. The state is known of jobs that
// have ended, and Map says that a job may be a map.
func (c *Cluster) glance(ctx context.Context) ([]api.JobSummary, error) {
	var jobs []api.JobSummary
	known := newCache()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		jobs, err = c.client.tableOfJobs(ctx)
		return err
	})
	g.Go(func() error {
		sets := selection{kind: c.client.workloads(status.LeaderWorkerSet), labels: allJobs, list: listOf(status.LeaderWorkerSet)}
		return c.client.readInto(ctx, known, []selection{sets})
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, e := range c.summaries(known, known.all(), api.ListStates) { // without pods
		if !e.State.Ended() {
			e.State = ""
		}
		jobs = append(jobs, e)
	}
	return jobs, nil
}

// tableOfJobs reads the Jobs of jobs as a table. The server may take it from its cache.
func (c *Client) tableOfJobs(ctx context.Context) ([]api.JobSummary, error) {
	k := c.jobs()
	body, err := c.reading(k, "", &metav1.ListOptions{LabelSelector: allJobs, ResourceVersion: "0"}).
		SetHeader("Accept", table.Accept).Param(table.ParamObject, table.NoObject).Stream(ctx)
	if err != nil {
		return nil, c.explain("list", k, "", err)
	}
	defer body.Close()
	type line struct { // a tenth of a JobSummary: thousands are moved as they come
		id    string
		state api.State
		isMap bool
		age   time.Duration
	}
	var lines []line
	err = table.Read(body, []string{"Name", "Status", "Completions", "Age"}, func(row []string) {
		id, _ := strings.CutPrefix(row[0], k.workload.NamePrefix)
		_, completions, _ := strings.Cut(row[2], "/")
		lines = append(lines, line{id, endIn(row[1]), completions != "1", table.Age(row[3])})
	})
	if err != nil {
		return nil, c.explain("list", k, "", err)
	}
	now := c.now()
	jobs := make([]api.JobSummary, len(lines))
	for i, l := range lines {
		jobs[i] = api.JobSummary{ID: l.id, Namespace: c.namespace, State: l.state, Map: l.isMap, Created: now.Add(-l.age)}
	}
	return jobs, nil
}

// endIn returns the state of a Job that has ended, by its column STATUS, which old servers do
// not have.
func endIn(column string) api.State {
	switch column {
	case "Complete":
		return api.Succeeded
	case "Failed":
		return api.Failed
	default:
		return ""
	}
}
