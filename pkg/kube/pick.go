package kube

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// maxDescribed is how many jobs Pick reads with their pods. Their IDs are in a URL.
const maxDescribed = 50

// Pick describes the jobs that choose picks. It reads all Jobs as a table, and then only the
// first picked ones with their pods: all of them took half a second for 5,000 jobs. The others, and all
// if those can't be read, are as choose got them.
func (c *Cluster) Pick(ctx context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	all, err := c.table(ctx)
	if err != nil {
		return nil, err
	}
	picked := choose(all)
	if len(picked) == 0 {
		return nil, nil
	}
	first := picked[:min(len(picked), maxDescribed)]
	ids := make([]string, len(first))
	for i, e := range first {
		ids[i] = e.ID
	}
	known := newCache()
	if err := c.client.readInto(ctx, known, c.listed(api.ListStates, jobsNamed(ids))); err != nil {
		return picked, err
	}
	return append(c.summaries(ctx, known, known.all(), api.ListStates), picked[len(first):]...), nil
}

func jobsNamed(ids []string) string { return joblist.Selector + " in (" + strings.Join(ids, ",") + ")" }

// table lists all jobs with little more than their IDs and ages. The state is known of jobs that
// have ended, and Map says that a job may be a map.
func (c *Cluster) table(ctx context.Context) ([]api.JobSummary, error) {
	var jobs []api.JobSummary
	known := newCache()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		jobs, err = c.jobTable(ctx)
		return c.client.explain("list", c.client.jobs(), "", err)
	})
	g.Go(func() error {
		sets := selection{kind: c.client.workloads(diagnose.LeaderWorkerSet), labels: joblist.Selector, list: listOf(diagnose.LeaderWorkerSet)}
		return c.client.readInto(ctx, known, []selection{sets})
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, e := range c.summaries(ctx, known, known.all(), api.ListStates) { // without pods
		if !e.State.Ended() {
			e.State = ""
		}
		jobs = append(jobs, e)
	}
	return jobs, nil
}

func (c *Cluster) jobTable(ctx context.Context) ([]api.JobSummary, error) {
	rows, err := apiserver.ReadTable(func(parameters map[string]string) ([]byte, error) {
		r := c.client.reading(c.client.jobs(), "", &metav1.ListOptions{LabelSelector: joblist.Selector}).SetHeader("Accept", apiserver.AcceptTable)
		for name, value := range parameters {
			r.Param(name, value)
		}
		return r.DoRaw(ctx)
	}, "Name", "Status", "Completions", "Age")
	jobs := make([]api.JobSummary, len(rows))
	now := c.client.now()
	for i, row := range rows {
		id, _ := strings.CutPrefix(row[0], api.JobNamePrefix)
		_, completions, _ := strings.Cut(row[2], "/")
		jobs[i] = api.JobSummary{ID: id, Namespace: c.client.namespace, State: endIn(row[1]), Map: completions != "1", Created: now.Add(-ageIn(row[3]))}
	}
	return jobs, err
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

// ageIn returns the duration that a column AGE shows, such as 3d4h. Any other text means nothing.
func ageIn(column string) time.Duration {
	const day = 24 * time.Hour
	units := map[rune]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': day, 'y': 365 * day}
	var age, n time.Duration
	for _, c := range column {
		if unit, ok := units[c]; ok {
			age, n = age+n*unit, 0
		} else if c >= '0' && c <= '9' {
			n = 10*n + time.Duration(c-'0')
		} else {
			return 0
		}
	}
	return age
}
