package job

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Sentence says how the job ended: job a1 failed: out of memory.
func (j *Job) Sentence(s api.Status) string {
	if s.Word() == api.CancelledWord {
		return fmt.Sprintf("job %s was %s", j.ID(), s.Outcome())
	}
	return fmt.Sprintf("job %s %s", j.ID(), s.Outcome())
}

// Failure tells the user why a job failed.
type Failure struct {
	// Headline is one sentence: which job, and why.
	Headline string
	// Printed is the remote traceback, which is also in the log, or without one the last
	// lines of the log.
	Printed string
	// Details is what the log does not say.
	Details string
	// Next is a command to type.
	Next string
	// AfterLog replaces Next for a user who has just read the whole log.
	AfterLog string
}

// tailLines is how many lines of a log a Failure shows, at most.
const tailLines = 20

// Failure gathers why the job failed.
func (j *Job) Failure(ctx context.Context, s api.Status) (Failure, error) {
	f := Failure{
		Headline: j.Sentence(s) + j.retried(s),
		Next:     j.command("logs"),
		AfterLog: j.command("describe"),
	}
	if failedByItself(s.Reason) {
		f.AfterLog = "to delete this job: " + j.command("cleanup")
	}
	result, err := j.ResultHead(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return f, err
	}
	if err == nil && result.Error != nil {
		f.Printed = strings.TrimSpace(result.Error.Traceback)
		if result.Error.Repr != "" {
			f.Details += "the value: " + cut(result.Error.Repr, 500) + "\n"
		}
		if result.Pickle != nil {
			f.Details += fmt.Sprintf("pickled in %s/%s\n", j.Store.URL(), store.Pickle(j.ID(), *result.Pickle))
		}
	}
	noLog := s.Reason == api.Cancelled || j.Handle.Map != nil // none of the pods of a map speaks for all
	if f.Printed == "" && f.Details == "" && !noLog {
		if f.Printed, err = j.lastLines(ctx); err != nil {
			return f, err
		}
	}
	url, err := j.PythonResult(ctx)
	if url != "" {
		f.Details += "the exception is pickled in " + url
	}
	return f, err
}

func (j *Job) command(verb string) string {
	return fmt.Sprintf("kubectl kinetic jobs %s %s%s", verb, j.ID(), j.LocationFlags())
}

// failedByItself reports whether the call itself or its packages have failed, not what it
// ran on. Its log then says why.
func failedByItself(r api.Reason) bool {
	switch r {
	case api.Exception, api.ExitCode, api.BadResult, api.NoProgram, api.BadEnvironment, api.BadData, api.BadPayload:
		return true
	default:
		return false
	}
}

// retried says how often a call that failed by itself was tried, or why it was not
// retried although --retries was given.
func (j *Job) retried(s api.Status) string {
	switch h := j.Handle; {
	case s.Reason != api.Exception && s.Reason != api.ExitCode, h.Map != nil, h.Backend == api.BackendLocal:
		return ""
	case h.RetryOn == api.RetryOnError && s.Attempt > 1:
		return " (attempt " + strconv.Itoa(s.Attempt) + ", the last one)"
	case h.RetryOn == api.RetryOnError, h.Retries == 0:
		return ""
	default:
		return " (not retried: --retries covers crashes; --retry-on error covers this too)"
	}
}

// lastLines returns the last lines of the host that made the job fail.
func (j *Job) lastLines(ctx context.Context) (string, error) {
	end, err := optional(j.end(ctx))
	if err != nil {
		return "", err
	}
	host := 0
	if end != nil {
		host = end.Host
	}
	lines, err := j.Tail(ctx, host, tailLines)
	if j.Handle.Hosts > 1 && lines != "" {
		lines = fmt.Sprintf("the last lines of host %d:\n%s", host, lines)
	}
	return lines, err
}

// LocationFlags returns the flags that a command line needs, besides the id, to find the job.
func (j *Job) LocationFlags() string {
	switch {
	case j.Handle.Backend == api.BackendLocal:
		return " --local" + j.Flags
	case j.Handle.Namespace != "":
		return " -n " + j.Handle.Namespace + j.Flags
	default:
		return j.Flags
	}
}

// Body returns the lines below the headline, in the block with which a failed command ends.
func (f Failure) Body() string {
	var b strings.Builder
	for _, text := range []string{f.Printed, f.Details} {
		if text = strings.Trim(text, "\n"); text != "" {
			b.WriteString("  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
		}
	}
	b.WriteString("next: " + f.Next + "\n")
	return b.String()
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
