// Package glance lists the jobs of a namespace with little more than their IDs and ages, for
// completion. Where there are many, a file remembers them, and only what has changed is listed again.
package glance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/joblist"
	"github.com/kubectl-kinetic/kinetic/pkg/table"
)

// many is the number of jobs above which the file is used. A server needs 100 ms for a list of 5,000, and
// 15 ms for one of 500.
const many = 500

// unsucceeded selects the Jobs without a pod that has succeeded.
const unsucceeded = "status.successful=0"

// Lister lists the Jobs of a namespace.
type Lister struct {
	// Request makes a request for Jobs.
	Request func(*metav1.ListOptions) *rest.Request
	// Now returns the time by the server's clock.
	Now func() time.Time
	// File remembers what was listed.
	File File
}

// job is what is known of a job. It is a tenth of a JobSummary: thousands are moved as they come.
type job struct {
	id      string
	state   api.State // "" unless it has ended
	isMap   bool
	created time.Time
}

// List lists all Jobs of jobs. The state is known of jobs that have ended, and Map says that a job
// may be a map. The server may answer from its cache.
//
// With the file, the server lists the jobs without success, and counts all Jobs. If the count is not that
// of the jobs that are known then, such as after one that has begun and succeeded since the file was
// written, all are listed again.
func (l Lister) List(ctx context.Context) ([]api.JobSummary, error) {
	jobs, err := l.update(ctx)
	if err != nil {
		jobs, err = l.all(ctx)
	}
	if err != nil {
		return nil, err
	}
	summaries := make([]api.JobSummary, len(jobs))
	for i, j := range jobs {
		summaries[i] = api.JobSummary{ID: j.id, State: j.state, Map: j.isMap, Created: j.created}
	}
	return summaries, nil
}

// all lists all Jobs of jobs, and remembers them if they are many.
func (l Lister) all(ctx context.Context) ([]job, error) {
	if l.File.path == "" {
		jobs, _, err := l.table(ctx, "")
		return jobs, err
	}
	jobs, version, err := l.table(ctx, "")
	if err != nil || len(jobs) <= many {
		return jobs, err
	}
	// A Job that is created after the list must not be counted as one of others.
	at := metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	if count, err := l.count(ctx, at); err == nil && count >= len(jobs) {
		l.File.write(listing{jobs: jobs, others: count - len(jobs)})
	}
	return jobs, nil
}

// update returns the jobs that the file has as they are now. It fails if they can't be all.
func (l Lister) update(ctx context.Context) ([]job, error) {
	known, err := l.File.read()
	if err != nil {
		return nil, err
	}
	var fresh []job
	var count int
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		fresh, _, err = l.table(ctx, unsucceeded)
		return err
	})
	g.Go(func() (err error) {
		count, err = l.count(ctx, metav1.ListOptions{})
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	jobs := known.with(fresh)
	if len(jobs)+known.others != count {
		return nil, fmt.Errorf("there are %d Jobs, not %d", count, len(jobs)+known.others)
	}
	return jobs, nil
}

// with returns the jobs of a listing and new ones, as they are now. fresh are all without success: whatever
// else had not ended has succeeded, but for a map, which may still run.
func (k listing) with(fresh []job) []job {
	jobs, at := k.jobs, make(map[string]int, len(k.jobs))
	for i, j := range jobs {
		at[j.id] = i
		if j.state == "" && !j.isMap {
			jobs[i].state = api.Succeeded
		}
	}
	for _, j := range fresh {
		if i, known := at[j.id]; known {
			jobs[i] = j
		} else {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// table reads the Jobs of jobs that fields select, and returns the resource version of the list.
func (l Lister) table(ctx context.Context, fields string) (jobs []job, version string, err error) {
	body, err := l.asTable(metav1.ListOptions{LabelSelector: joblist.Selector, FieldSelector: fields, ResourceVersion: "0"}).Stream(ctx)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	now := l.Now()
	version, err = table.Read(body, []string{"Name", "Status", "Completions", "Age"}, func(row []string) {
		id, _ := strings.CutPrefix(row[0], api.JobNamePrefix)
		_, completions, _ := strings.Cut(row[2], "/")
		jobs = append(jobs, job{id, endIn(row[1]), completions != "1", now.Add(-table.Age(row[3]))})
	})
	return jobs, version, err
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

// count returns how many Jobs there are at a time, those of others included: a server counts only without
// selectors.
func (l Lister) count(ctx context.Context, at metav1.ListOptions) (int, error) {
	at.Limit = 1
	text, err := l.asTable(at).DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	var page struct {
		Metadata metav1.ListMeta
		Rows     []struct{}
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return 0, fmt.Errorf("reading a page of Jobs: %w", err)
	}
	if page.Metadata.Continue == "" {
		return len(page.Rows), nil
	}
	if page.Metadata.RemainingItemCount == nil {
		return 0, errors.New("the server does not count Jobs")
	}
	return len(page.Rows) + int(*page.Metadata.RemainingItemCount), nil
}

func (l Lister) asTable(o metav1.ListOptions) *rest.Request {
	return l.Request(&o).SetHeader("Accept", table.Accept).Param(table.ParamObject, table.NoObject)
}
