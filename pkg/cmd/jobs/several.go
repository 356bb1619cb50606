package jobs

import (
	"fmt"
	"io"
	"maps"
	"sync"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// each calls do for all jobs, several at the same time. It returns the results and the errors,
// which name their jobs, in the order of the jobs.
func each[T any](jobs []*job.Job, do func(*job.Job) (T, error)) ([]T, []error) {
	results, errs := make([]T, len(jobs)), make([]error, len(jobs))
	parallel.Each(job.Parallel, jobs, func(i int, j *job.Job) {
		var err error
		results[i], err = do(j)
		errs[i] = report.OfJob(j.ID(), err)
	})
	return results, errs
}

// answers prints what is done to several jobs: a line for each at once or, with -o json, an object with
// all of them at the end.
type answers struct {
	out  io.Writer
	json bool
}

// answer is what is printed about a job: a text after its ID, "" for none, or an item.
type answer struct {
	text string
	item any
}

// forEach calls do for all jobs and prints the answers. After an error it continues with the other jobs.
// It returns an error or nil for each job, in their order, and the items of the others.
func (a answers) forEach(found []*job.Job, do func(*job.Job) (answer, error)) ([]any, []error) {
	var mu sync.Mutex // of the output
	all, errs := each(found, func(j *job.Job) (answer, error) {
		done, err := do(j)
		if err == nil && done.text != "" && !a.json {
			mu.Lock()
			defer mu.Unlock()
			_, err = fmt.Fprintln(a.out, j.ID(), done.text)
		}
		return done, err
	})
	items := []any{}
	for i, done := range all {
		if errs[i] == nil {
			items = append(items, done.item)
		}
	}
	return items, errs
}

// finish prints items, and what else there is to say of them, with -o json.
func (a answers) finish(items []any, more map[string]any) error {
	if !a.json {
		return nil
	}
	object := map[string]any{"items": items}
	maps.Copy(object, more)
	return cli.Write(a.out, cli.JSON, object)
}
