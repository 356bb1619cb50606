package warm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Delete implements job.Backend. It ends a call that runs, and leaves its host, unless that has not started: its only call is then this one.
func (b Backend) Delete(ctx context.Context, h api.Handle, o api.DeleteOptions) error {
	if h.Host == "" {
		return b.Backend.Delete(ctx, h, o)
	}
	_, ended, err := b.ended(ctx, h)
	if err != nil {
		return err
	}
	if ended {
		return b.forget(ctx, h)
	}
	ending := o.Ending
	if ending == nil {
		ending = func() error { return nil }
	}
	host, statusErr := b.Backend.Status(ctx, HostOf(h))
	if statusErr == nil && host.State == api.Pending {
		others, err := b.hasOthers(ctx, h)
		switch {
		case err != nil:
			return err
		case others: // a new pod is to run one of them again, and finds that this one has ended
			return ending()
		}
		return b.Backend.Delete(ctx, HostOf(h), o)
	}
	conn, err := b.Dial(ctx, HostOf(h), 0)
	if errors.Is(err, ErrNoHost) {
		return errors.Join(statusErr, ending())
	}
	if err != nil {
		return notEnded(h, err)
	}
	defer conn.Close()
	if err := conn.Cancel(h.JobID); err != nil {
		return notEnded(h, err)
	}
	failure := ending()
	waiting, cancel := context.WithTimeout(ctx, max(o.Grace, job.DefaultGrace)+answerTime)
	defer cancel()
	defer context.AfterFunc(waiting, func() { _ = conn.Close() })()
	_, err = conn.Follow(h.JobID, 0, io.Discard)
	if errors.Is(err, ErrUnknown) || waiting.Err() == nil { // it had not begun, or is over, or its host is ending, too
		err = nil
	}
	return errors.Join(failure, err)
}

// notEnded says why a call could not be ended.
func notEnded(h api.Handle, err error) error {
	err = fmt.Errorf("ending job %s on its warm host %s: %w", h.JobID, h.Host, err)
	if !errors.Is(err, ErrNoKey) {
		return err
	}
	next := fmt.Sprintf("kubectl kinetic jobs warm --end %s -n %s", h.Host, h.Namespace)
	return &transport.Explained{Text: fmt.Sprintf("%v. Cancel the job on the machine that started the host, or end the host with its call: %s", err, next), Cause: err, Of: api.KindForbidden, Do: next}
}

// hasOthers reports whether the host of a call was given others that have not ended.
func (b Backend) hasOthers(ctx context.Context, h api.Handle) (bool, error) {
	calls, err := b.callsOf(ctx, api.JobSummary{ID: h.Host, Store: h.Store, Namespace: h.Namespace, Status: api.Status{State: api.Pending}}, nil)
	return slices.ContainsFunc(calls, func(call api.JobSummary) bool { return call.ID != h.JobID && !call.State.Ended() }), err
}

// EndHost ends a host, and the calls that run on it, which have their grace. It returns these calls, and records their ends as soon as
// the cluster has accepted that the host ends: no pod comes that could. state is what the host has told, nil if it did not answer: then
// the store tells which calls have begun and have no end.
func (b Backend) EndHost(ctx context.Context, host api.Handle, state *State, now time.Time) (calls []string, err error) {
	end := api.End{State: api.Failed, Reason: api.Cancelled, Message: "its host was ended by jobs warm --end", ExitCode: api.Cancelled.Code(),
		Attempt: 1, Finished: b.ServerTime(now).UTC(), By: "cancel"}
	ending := func() error {
		s, err := b.OpenStore(host.Store)
		if err != nil {
			return fmt.Errorf("opening the store of warm host %s: %w", host.JobID, err)
		}
		if state == nil {
			calls, err = unended(ctx, s, host.JobID)
		} else if state.Current != "" {
			calls, end.Started = []string{state.Current}, end.Finished.Add(-time.Duration(state.Seconds*float64(time.Second)))
		}
		for _, id := range calls {
			if failure := job.RecordCancel(ctx, s, id, end); failure != nil {
				err = errors.Join(err, fmt.Errorf("recording the end of job %s: %w", id, failure))
			}
		}
		return err
	}
	if state != nil && state.Current == "" {
		ending = nil
	}
	err = b.Backend.Delete(ctx, host, api.DeleteOptions{Grace: job.DefaultGrace, Ending: ending})
	return calls, err
}

// unended returns the calls of a host that have begun and have no end in the store.
func unended(ctx context.Context, s store.Store, host string) ([]string, error) {
	ids, err := callIDs(ctx, s, host)
	if err != nil {
		return nil, err
	}
	running, errs := parallel.Collect(job.Parallel, ids, func(id string) (string, error) {
		if _, err := records.Find(ctx, s, store.End(id)); !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
		here, err := store.HasAny(ctx, s, store.Attempts(id)) // one that has not begun is started elsewhere by its client
		if here {
			here, err = isAt(ctx, s, id, host)
		}
		if !here {
			return "", err
		}
		return id, nil
	})
	return slices.DeleteFunc(running, func(id string) bool { return id == "" }), errors.Join(errs...)
}

// isAt reports whether a call that has a record at a host runs there, as far as is known. A submit that was interrupted leaves such a
// record; the one that is repeated may use another host.
func isAt(ctx context.Context, s store.Store, id, host string) (bool, error) {
	data, err := records.ReadBytes(ctx, s, store.Handle(id))
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	h, err := api.ParseHandle(data)
	return err != nil || h.Host == host, nil //nolint:nilerr // who can't read it knows nothing else
}

func (b Backend) forget(ctx context.Context, h api.Handle) error {
	s, err := b.OpenStore(h.Store)
	if err != nil {
		return err
	}
	return s.Delete(ctx, store.WarmCall(h.Host, h.JobID))
}

// Release implements job.Backend.
func (b Backend) Release(ctx context.Context, h api.Handle, end api.End) error {
	if h.Host == "" {
		return b.Backend.Release(ctx, h, end)
	}
	return nil
}
