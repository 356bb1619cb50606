package warm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// lookEvery is how often the store is asked whether a call has ended: nothing reports that, except the host to those who follow the output.
const lookEvery = 500 * time.Millisecond

// Watch implements job.Backend.
func (b Backend) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	if h.Host == "" {
		return b.Backend.Watch(ctx, h, seen)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changes, broken := make(chan api.WorkloadStatus), make(chan error, 1)
	go func() {
		_, err := b.Backend.Watch(watching, HostOf(h), func(s api.WorkloadStatus) {
			select {
			case changes <- s:
			case <-watching.Done():
			}
		})
		broken <- err
	}()
	var last api.WorkloadStatus
	if b.Rung.has(h.JobID) {
		last = running(h)
		seen(last)
	}
	var changed, waits *api.WorkloadStatus // the status of the host: one that is to be told, or with which the call waits for its turn
	away := outage{warn: b.Warn}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		s, over, err := b.look(ctx, h, changed)
		switch {
		case ctx.Err() != nil:
			return last, ctx.Err()
		case away.isFinal(err):
			return last, err
		case err == nil && !over && changed != nil && changed.State == api.Running && s.State == api.Pending:
			if last.State != api.Pending { // else its host may have just started, for this call
				last = s
				seen(last)
			}
			changed, waits = nil, changed
			continue
		case err == nil && (over || changed != nil):
			seen(s)
			if over {
				return s, nil
			}
			last, changed = s, nil
			continue
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case host := <-changes:
			changed, waits = &host, nil
		case err := <-broken:
			if err != nil {
				return last, err
			}
			broken = nil
		case <-tick.C:
			changed, waits = cmp.Or(changed, waits), nil
		}
	}
}

// look returns the status of a call if it has ended, or else if its host has changed, and whether the call has ended.
func (b Backend) look(ctx context.Context, h api.Handle, changed *api.WorkloadStatus) (s api.WorkloadStatus, over bool, err error) {
	s, over, err = b.ended(ctx, h)
	if err != nil || over || changed == nil {
		return s, over, err
	}
	s, err = b.now(ctx, h, *changed)
	return s, s.State.Ended(), err
}

// outage decides for how long a store that can't be read is asked again.
type outage struct {
	warn  func(string)
	since time.Time // of the first of the consecutive failures
}

// isFinal reports whether an error, which may be nil, ends a watch: the store is not to be used, or has been away for as long as any server
// may be. It tells the user of the first of several errors.
func (o *outage) isFinal(err error) bool {
	switch {
	case err == nil:
		o.since = time.Time{}
		return false
	case errors.Is(err, store.ErrUnusable) || errors.As(err, new(*api.VersionError)):
		return true
	case o.since.IsZero():
		o.since = time.Now()
		o.warn(fmt.Sprintf("%v; trying again", err))
	}
	return time.Since(o.since) >= transport.OutageLasts
}
