package warm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Backend is the backend of a cluster that also answers for the calls of its warm hosts, which have no workload of their own:
// the store has how they ended, and the host what they print.
type Backend struct {
	job.Backend
	// Dial connects to a pod of a host, by the host's handle and the pod's number. Number 0 takes the calls. The error is ErrNoHost
	// if the pod is gone, or takes no calls yet.
	Dial func(ctx context.Context, host api.Handle, number int) (*Conn, error)
	// OpenStore opens the store of a call.
	OpenStore func(url string) (store.Store, error)
	// Usual is the URL of the store in which jobs without a workload are looked for, "" if there is none.
	Usual string
	// Warn prints a sentence.
	Warn func(string)
	// Rung is a connection on which a host was given a call, or nil.
	Rung *Rung
}

// ErrNoHost means that there is no pod that takes calls.
var ErrNoHost = errors.New("the warm host has no running pod")

// ErrNoKey means that the user has no permission to read the key of a host, of which this machine has no copy.
var ErrNoKey = errors.New("no permission to read the key of the warm host")

// HostOf returns the handle of the host that runs a call.
func HostOf(h api.Handle) api.Handle {
	return api.Handle{JobID: h.Host, Backend: h.Backend, Namespace: h.Namespace, K8sName: h.K8sName, Store: h.Store, Hosts: h.Hosts}
}

// Status implements job.Backend.
func (b Backend) Status(ctx context.Context, h api.Handle) (api.WorkloadStatus, error) {
	if h.Host == "" {
		return b.Backend.Status(ctx, h)
	}
	if s, ended, err := b.ended(ctx, h); ended || err != nil {
		if err == nil && h.Payload != nil {
			s.Reported = b.reported(ctx, h)
		}
		return s, err
	}
	host, err := b.Backend.Status(ctx, HostOf(h))
	if err != nil {
		return host, err
	}
	return b.now(ctx, h, host)
}

// reported returns the pickle that the host knows of a call that has ended, nil if the host is gone. With it, the store need not be trusted.
func (b Backend) reported(ctx context.Context, h api.Handle) *api.Pickle {
	conn, err := b.Dial(ctx, HostOf(h), 0)
	if err != nil {
		return nil
	}
	asking, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	pickle, err := read(asking, conn, h.JobID, logs.Options{Follow: true, Tail: 0}, 0, io.Discard)
	if err != nil {
		return nil
	}
	return pickle
}

// ended returns the status of a call that has an end. If it was cancelled or collected, that is NOT_FOUND: other jobs have no workload then.
func (b Backend) ended(ctx context.Context, h api.Handle) (api.WorkloadStatus, bool, error) {
	s, err := b.OpenStore(h.Store)
	if err != nil {
		return api.WorkloadStatus{}, false, err
	}
	end, err := records.End(ctx, s, h.JobID)
	if errors.Is(err, store.ErrNotFound) {
		return api.WorkloadStatus{}, false, nil
	}
	if err != nil {
		return api.WorkloadStatus{}, false, err
	}
	if _, err := records.Find(ctx, s, store.Collected(h.JobID)); err == nil || end.Reason == api.Cancelled {
		return api.WorkloadStatus{Status: api.Status{State: api.NotFound}}, true, nil
	}
	return api.WorkloadStatus{Status: end.Status()}, true, nil
}

// now is ofCall, but a call of which there is no attempt waits, also if its host runs: another call does there.
func (b Backend) now(ctx context.Context, h api.Handle, host api.WorkloadStatus) (api.WorkloadStatus, error) {
	if host.State == api.Running && !b.Rung.has(h.JobID) {
		if begun, err := b.begun(ctx, h); !begun || err != nil {
			message := fmt.Sprintf("it waits for its turn on warm host %s, or was never given to it", h.Host)
			return api.WorkloadStatus{Status: api.Status{State: api.Pending, Message: message}}, err
		}
	}
	return b.ofCall(ctx, h, host)
}

// begun reports whether the store has an attempt of a call.
func (b Backend) begun(ctx context.Context, h api.Handle) (bool, error) {
	s, err := b.OpenStore(h.Store)
	if err != nil {
		return false, err
	}
	return store.HasAny(ctx, s, store.Attempts(h.JobID))
}

// ofCall returns the status of a call that has no end, from that of its host.
func (b Backend) ofCall(ctx context.Context, h api.Handle, host api.WorkloadStatus) (api.WorkloadStatus, error) {
	switch host.State {
	case api.Running:
		return running(h), nil
	case api.Pending:
		if strings.HasPrefix(host.Next, "kubectl kinetic") { // else it names the host's own objects
			host.Next = strings.ReplaceAll(host.Next, h.Host, h.JobID)
		}
		return host, nil
	}
	if s, ended, err := b.ended(ctx, h); ended || err != nil { // meanwhile
		return s, err
	}
	if host.State == api.NotFound { // as any job that has no workload, and has not begun
		if begun, err := b.begun(ctx, h); !begun || err != nil {
			return host, err
		}
	}
	message := fmt.Sprintf("its warm host %s ended before the call did", h.Host)
	if host.Message != "" {
		message += ": " + host.Message
	}
	return api.WorkloadStatus{Status: api.Status{State: api.Failed, Reason: api.Disrupted, Message: message, Attempt: 1, Started: h.CreatedAt, Finished: b.ServerTime(time.Now()).UTC()}}, nil
}

func running(h api.Handle) api.WorkloadStatus {
	return api.WorkloadStatus{Status: api.Status{State: api.Running, Attempt: 1, Started: h.CreatedAt}}
}

// Inspect implements job.Backend. The pod of a call is that of its host.
func (b Backend) Inspect(ctx context.Context, h api.Handle, disruptions bool) (api.WorkloadDetail, error) {
	if h.Host == "" {
		return b.Backend.Inspect(ctx, h, disruptions)
	}
	return b.Backend.Inspect(ctx, HostOf(h), disruptions)
}

// Logs implements job.Backend. If the host can't be asked, it writes what the store has, with o.Follow until the call has ended.
func (b Backend) Logs(ctx context.Context, h api.Handle, a *logs.Archive, o logs.Options, w display.Streams) error {
	if h.Host == "" {
		return b.Backend.Logs(ctx, h, a, o, w)
	}
	if !b.Rung.has(h.JobID) && a.Ended(ctx) {
		return logs.Stored(ctx, a.Store, h.JobID, o, w)
	}
	written, own, to := &shown{}, o, w
	if !o.Merges() {
		own, to = written.count(o, w)
	}
	err := b.followAll(ctx, h, a, own, to)
	if err == nil || ctx.Err() != nil || errors.As(err, new(*logs.WriteError)) {
		return errors.Join(ctx.Err(), err)
	}
	if errors.Is(err, ErrOtherCode) {
		return fmt.Errorf("warm host %s %w; don't trust the value, and run it again with --fresh", h.Host, err)
	}
	if !o.Merges() && o.Tail < 0 { // else the store has the lines in another order, or others
		o, w = written.rest(o, w)
	}
	if !errors.Is(err, ErrNoHost) && !errors.Is(err, ErrUnknown) {
		when := ", which gets it every 30 seconds"
		if o.Follow && o.Merges() {
			when = " when the job has ended, or with --host N while it runs"
		}
		b.Warn(fmt.Sprintf("the log of job %s is shown from the store%s: %v", h.JobID, when, err))
	}
	return b.storedLog(ctx, h, a, o, w)
}

// storedLog writes what the store has of the log of a call, with o.Follow until the call has ended.
func (b Backend) storedLog(ctx context.Context, h api.Handle, a *logs.Archive, o logs.Options, w display.Streams) error {
	if !o.Follow {
		return logs.Stored(ctx, a.Store, h.JobID, o, w)
	}
	following, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	over := make(chan struct{})
	go func() {
		if _, err := b.Watch(following, h, func(api.WorkloadStatus) {}); err != nil {
			stop(err)
			return
		}
		a.Ended(following)
		close(over)
	}()
	if err := logs.StoredUntil(following, a.Store, h.JobID, o, w, over); err != nil {
		return cmp.Or(context.Cause(following), err)
	}
	return nil
}

// lag is how long the output of other pods may come after the first one has told that the call has ended.
const lag = 2 * time.Second

// followAll writes the output of a call from the chosen pod, or from all pods. The call has ended when the first pod reports its
// end. If another pod can't be reached, its log is in the store.
func (b Backend) followAll(ctx context.Context, h api.Handle, a *logs.Archive, o logs.Options, w display.Streams) error {
	over := make(chan struct{})
	return logs.WriteHosts(ctx, o, w, func(ctx context.Context, number int, out io.Writer) error {
		if number == 0 || !o.Merges() {
			defer close(over)
			return b.follow(ctx, h, a, o, number, out)
		}
		following, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			select {
			case <-over:
				time.AfterFunc(lag, stop)
			case <-following.Done():
			}
		}()
		err := b.follow(following, h, a, o, number, out)
		switch {
		case err == nil || ctx.Err() != nil:
		case following.Err() != nil:
			b.Warn(fmt.Sprintf("host %d of job %s has not ended yet: its log will be in the store", number, h.JobID))
		default:
			b.Warn(fmt.Sprintf("the rest of the log of host %d of job %s is in the store: %v", number, h.JobID, err))
		}
		return ctx.Err()
	})
}

// follow writes the output of a call from a pod of its host.
func (b Backend) follow(ctx context.Context, h api.Handle, a *logs.Archive, o logs.Options, number int, out io.Writer) error {
	var next int64
	var pod string
	for tries := 1; ; tries++ {
		conn, err := b.reach(ctx, h, a, number)
		if err != nil {
			return err
		}
		conn.Code = h.BundleSHA256
		if conn.pod != pod {
			pod, next = conn.pod, 0 // another pod has begun the call anew
		}
		pickle, err := read(ctx, conn, h.JobID, o, next, out)
		switch {
		case err == nil && o.Follow && number == 0:
			a.Report(pickle)
			a.Ended(ctx)
			return nil
		case err == nil || ctx.Err() != nil || errors.Is(err, ErrUnknown) || errors.Is(err, ErrOtherCode) || errors.As(err, new(*logs.WriteError)) || conn.Next() <= next && tries >= maxTries:
			return err
		case conn.Next() > next:
			next, tries = conn.Next(), 1
		}
	}
}

// maxTries is how often a connection may be cut before it has brought anything.
const maxTries = 3

// read writes the output of a call from one connection, from an offset on if that is not 0, and closes the connection.
func read(ctx context.Context, conn *Conn, id string, o logs.Options, offset int64, out io.Writer) (*api.Pickle, error) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	switch {
	case !o.Follow:
		return nil, conn.Output(id, o.Tail, out)
	case offset > 0:
		return conn.Resume(id, offset, out)
	}
	return conn.Follow(id, o.Tail, out)
}

// reach connects to a pod of the host of a call, once the pod takes calls.
func (b Backend) reach(ctx context.Context, h api.Handle, a *logs.Archive, number int) (*Conn, error) {
	if number == 0 {
		if conn := b.Rung.take(h.JobID); conn != nil {
			return conn, nil
		}
	}
	for {
		conn, err := b.Dial(ctx, HostOf(h), number)
		if !errors.Is(err, ErrNoHost) || a.Ended(ctx) {
			return conn, err
		}
		host, err := b.Backend.Status(ctx, HostOf(h))
		switch {
		case err != nil:
			return nil, err
		case host.State != api.Pending && host.State != api.Running:
			return nil, ErrNoHost
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

// PartLog implements job.Backend.
func (b Backend) PartLog(ctx context.Context, h api.Handle, part string, o logs.Options, w io.Writer) error {
	if h.Host == "" {
		return b.Backend.PartLog(ctx, h, part, o, w)
	}
	return fs.ErrNotExist
}
