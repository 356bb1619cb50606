package jobs

import (
	"fmt"
	"io"
	"sync"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/fanout"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// each calls do for all jobs, several at the same time. It returns the results and the errors,
// which name their jobs, in the order of the jobs.
func each[T any](jobs []*job.Job, do func(*job.Job) (T, error)) ([]T, []error) {
	results, errs := make([]T, len(jobs)), make([]error, len(jobs))
	fanout.Each(job.Parallel, jobs, func(i int, j *job.Job) {
		var err error
		results[i], err = do(j)
		errs[i] = report.OfJob(j.ID(), err)
	})
	return results, errs
}

// forEach calls do for all jobs, and prints the text that it returns, if any. After an
// error it continues with the other jobs. It returns an error or nil for each job, in
// their order.
func forEach(out io.Writer, found []*job.Job, do func(*job.Job) (string, error)) []error {
	var mu sync.Mutex // of the output
	_, errs := each(found, func(j *job.Job) (struct{}, error) {
		said, err := do(j)
		if err == nil && said != "" {
			mu.Lock()
			defer mu.Unlock()
			_, err = fmt.Fprintln(out, j.ID(), said)
		}
		return struct{}{}, err
	})
	return errs
}
