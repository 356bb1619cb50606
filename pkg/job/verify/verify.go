// Package verify decides which bytes are the result of a job. Reading a pickle runs code, and
// whoever may write to a store could have put it there. So a pickle is only delivered if its
// hash is the one that the job reported in another way: to its cluster.
package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Source is where the hash of a pickle comes from.
type Source string

// The sources, the best first.
const (
	Cluster Source = "cluster" // the job's pod reported it to its cluster
	Cache   Source = "cache"   // this machine remembers such a report
	Local   Source = "local"   // the runner on this machine recorded it
	Store   Source = "store"   // the store has it, beside the pickle
)

// describe says who knows of a hash, as the beginning of a sentence's end.
func (s Source) describe() string {
	switch s {
	case Cluster:
		return "its pod reported"
	case Cache:
		return "this machine remembers"
	case Local:
		return "its runner recorded"
	default:
		return "end.json has"
	}
}

// Pickle is a pickle as it must be.
type Pickle struct {
	api.Pickle
	Source Source
	// Warning is a sentence for the user, "" for none.
	Warning string
}

// Error means that a pickle is not delivered, because nothing that is trusted says that it is
// the result of its job.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return errors.Unwrap(e.err) }

// Kind returns the kind of the error.
func (e *Error) Kind() api.ErrorKind { return api.KindUntrusted }

func untrusted(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

// DefaultPatience is how long a cluster may take to show that a pod has ended: a second or two,
// or more on a busy node.
const DefaultPatience = 30 * time.Second

// Verifier finds out how the pickle of a job must be.
type Verifier struct {
	Reports Reports
	// TrustStore takes the word of any store.
	TrustStore bool
	// Timeout is how long to wait until the cluster shows that a job has ended.
	Timeout time.Duration
}

// Find returns how the pickle must be that a job left which has ended; nil if it left none. If
// nothing says that for certain, the error is an Error.
func (f Verifier) Find(ctx context.Context, j *job.Job) (*Pickle, error) {
	if isHere(j.Store) {
		return recorded(ctx, j, Local)
	}
	if p := j.Reported(); p != nil {
		return f.remembered(j, *p)
	}
	status, unseen := f.look(ctx, j)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if p := status.Reported; unseen == nil && p != nil {
		return f.remembered(j, *p)
	}
	if p, known := f.Reports.Recall(j.Usual, j.ID()); known && !f.TrustStore {
		return checked(j, &Pickle{Pickle: p, Source: Cache})
	}
	p, err := recorded(ctx, j, Store)
	if err != nil || p == nil || f.TrustStore {
		return p, err
	}
	switch {
	case unseen != nil:
		return nil, untrusted("job %s: could not get the hash of the result from its cluster, and only its store, %s, has one: %w"+advice, j.ID(), j.Store.URL(), unseen)
	case !status.State.Ended():
		return nil, untrusted("job %s: its store, %s, has a result, but its cluster has not reported that the job has ended: try again later"+advice, j.ID(), j.Store.URL())
	case j.Store.URL() != j.Usual:
		return nil, untrusted("job %s: its workload is gone, and only its store, %s, has the hash of the result; that is not the store in use, %s"+advice, j.ID(), j.Store.URL(), j.Usual)
	}
	p.Warning = fmt.Sprintf("the pod of job %s is gone, so its result was checked only against the store %s", j.ID(), j.Store.URL())
	return p, nil
}

// remembered returns the pickle that a pod reported, and remembers it.
func (f Verifier) remembered(j *job.Job, reported api.Pickle) (*Pickle, error) {
	p, err := checked(j, &Pickle{Pickle: reported, Source: Cluster})
	if err == nil {
		f.Reports.Remember(j.Usual, j.ID(), reported)
	}
	return p, err
}

// advice ends the errors about what only a store says.
const advice = "; if everybody who may write to that store is trusted, add --trust-store"

// reused follows errors about what a store has. This machine forgets a job when it submits another with its ID; another
// machine may submit it.
func (s Source) reused() string {
	if s != Cache {
		return ""
	}
	return "; if that was another job with the same ID, add --trust-store"
}

// isHere reports whether a store is a directory of this machine, which only its user can write to.
// The handle, which is in the store, must not decide that.
func isHere(s store.Store) bool { return strings.HasPrefix(s.URL(), store.FileScheme) }

// look asks the cluster about a job until it has ended there, too.
func (f Verifier) look(ctx context.Context, j *job.Job) (api.WorkloadStatus, error) {
	handle := j.Handle
	s, err := j.Backend.Status(ctx, handle)
	if err == nil && s.State == api.NotFound {
		// The handle says where to look; whoever changed it must not hide the workload.
		bare := api.Handle{JobID: j.ID(), Namespace: j.Handle.Namespace}
		if found, err := j.Backend.Status(ctx, bare); err == nil {
			s, handle = found, bare
		}
	}
	if err != nil || s.State.Ended() {
		return s, err
	}
	waiting, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	last, err := j.Backend.Watch(waiting, handle, func(api.WorkloadStatus) {})
	if err != nil && errors.Is(waiting.Err(), context.DeadlineExceeded) {
		return s, nil
	}
	return last, err
}

func recorded(ctx context.Context, j *job.Job, by Source) (*Pickle, error) {
	end, err := records.End(ctx, j.Store, j.ID())
	if errors.Is(err, store.ErrNotFound) || err == nil && end.Pickle == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return checked(j, &Pickle{Pickle: *end.Pickle, Source: by})
}

const (
	namePattern = `^result(-[0-9]+)?\.pkl$`
	hashPattern = `^[0-9a-f]{64}$`
)

// checked rejects a pickle that no runner reports.
func checked(j *job.Job, p *Pickle) (*Pickle, error) {
	if lazyregexp.Of(namePattern).MatchString(p.Name) && lazyregexp.Of(hashPattern).MatchString(p.SHA256) && p.Size > 0 {
		return p, nil
	}
	return nil, untrusted("job %s: %s a malformed hash of its result: %+v", j.ID(), p.Source.describe(), p.Pickle)
}
