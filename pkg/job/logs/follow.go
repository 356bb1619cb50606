package logs

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

const (
	// allBuffers is the most that the read buffers of all hosts have together, and minBuffer
	// the least that each has: with 512 hosts 64 KiB each, with 10,000 hosts 4 KiB.
	allBuffers = 32 << 20
	minBuffer  = 4 << 10
	// parallelReads is how many logs are read to their present end at the same time. All
	// hosts are followed after that, each over a connection that is mostly silent.
	parallelReads = 256
)

// Read writes what the pods of a job printed, each host's attempts in order. With Follow it
// returns once the job has ended and everything is written. What a pod or its node no longer
// has comes from the archive.
func Read(ctx context.Context, s Source, a *Archive, o Options, w display.Streams) error {
	var known []api.Attempt
	if a.hasLog() {
		var err error
		if known, err = a.Attempts(ctx, o.Host); err != nil {
			return err
		}
	}
	if o.Attempt > 0 && len(known) > 0 && (!o.Chunks || o.Host >= 0) && o.Attempt < known[len(known)-1].Attempt {
		return Stored(ctx, a.Store, a.JobID, o, w) // the attempt's pod is gone, or will be soon
	}
	r := newReader(s, a, o, newPodTracker(known, o.Chunks))
	if !o.Follow {
		pods, err := s.Pods(ctx)
		if err != nil {
			return err
		}
		r.tracker.update(pods.List)
		return r.readHosts(ctx, w, r.readHost)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { r.tracker.Close(r.watch(ctx)) }()
	return r.readHosts(ctx, w, r.followHost)
}

type reader struct {
	source  Source
	archive *Archive
	options Options
	tracker *podTracker
	written *writeCounter
	reads   chan struct{} // has an element for each log that is read and not followed
	buffer  int           // size of the read buffer of a host
	idle    time.Duration
}

func newReader(s Source, a *Archive, o Options, t *podTracker) *reader {
	return &reader{source: s, archive: a, options: o, tracker: t, written: &writeCounter{},
		reads:  make(chan struct{}, parallelReads),
		buffer: max(minBuffer, min(readSize, allBuffers/max(o.Hosts, 1))), idle: idleLimit}
}

type readFunc func(ctx context.Context, host int, d *Decoder) error

// readHosts reads the log of the chosen host, or of all hosts at the same time.
func (r *reader) readHosts(ctx context.Context, w display.Streams, read readFunc) error {
	r.options, w = r.options.Wrapped(w, r.written.count)
	if !r.options.Merges() {
		err := read(ctx, max(r.options.Host, 0), r.options.decoder(w, max(r.options.Host, 0)))
		if errors.Is(err, errEnded) {
			return nil
		}
		return err
	}
	mux := r.options.multiplexer(w)
	g, following := errgroup.WithContext(ctx)
	if r.options.Follow { // otherwise the other hosts are read to their end
		ctx = following
	}
	errs := make([]error, r.options.Hosts)
	for host := range errs {
		g.Go(func() error {
			decoder := r.options.decoder(mux.Host(host), host)
			err := read(ctx, host, decoder)
			if errors.Is(err, errEnded) {
				r.tracker.finish()
				err = nil
			}
			if err == nil {
				err = decoder.Next()
			}
			errs[host] = err
			return err
		})
	}
	if err := g.Wait(); err == nil || r.options.Follow {
		return err
	}
	told := map[string]bool{} // what hosts have in common, such as an output that is closed, is told once
	return errors.Join(slices.DeleteFunc(errs, func(err error) (skip bool) {
		if skip = err == nil || told[err.Error()]; !skip {
			told[err.Error()] = true
		}
		return skip
	})...)
}

// withSlot calls read once fewer than parallelReads such calls are running.
func (r *reader) withSlot(ctx context.Context, read func() error) error {
	select {
	case r.reads <- struct{}{}:
		defer func() { <-r.reads }()
		return read()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watch tracks the job's pods until the job has ended and none of them is running. After their
// grace period, neither pods that are still running nor nodes that hang are waited for.
func (r *reader) watch(ctx context.Context) error {
	var late *time.Timer
	err := r.source.WatchPods(ctx, func(pods Pods) bool {
		r.tracker.update(pods.List)
		if !pods.JobEnded {
			return false
		}
		if late == nil {
			late = time.AfterFunc(pods.Grace, r.tracker.finish)
		}
		return !slices.ContainsFunc(pods.List, func(p Pod) bool { return p.Running })
	})
	if err != nil && late != nil {
		late.Stop()
	}
	return err
}

// readHost writes what a host has printed so far in the chosen attempts.
func (r *reader) readHost(ctx context.Context, host int, d *Decoder) error {
	over, cancel := context.WithCancel(ctx)
	cancel() // so that nothing is waited for
	pods, err := r.writeDeletedPods(ctx, host, d)
	for i, p := range pods {
		if err != nil {
			return err
		}
		if !r.mayHaveLog(p) {
			continue
		}
		if i > 0 {
			if err := d.Next(); err != nil {
				return err
			}
		}
		err = r.podLog(p, r.options, d).write(ctx, ctx, over)
		if errors.Is(err, errEnded) {
			err = nil
		}
	}
	return err
}

// followHost writes the logs of a host's pods, one after the other, until the job has ended. The
// error is errEnded if the log itself says so.
func (r *reader) followHost(ctx context.Context, host int, d *Decoder) error {
	if err := r.tracker.waitForPods(ctx); err != nil {
		return err
	}
	there, err := r.writeDeletedPods(ctx, host, d)
	if err != nil {
		return err
	}
	live, drained, cancel := r.drain(ctx)
	defer cancel()
	o, done := r.options, map[string]bool{}
	if len(there) == 0 {
		o.Tail = -1 // pods that start from now on are wanted from their first line
	}
	for {
		pod, err := r.nextPod(ctx, host, done)
		if err != nil {
			return err
		}
		if pod == nil {
			return r.writeUnreportedPods(ctx, host, done, d)
		}
		if len(done) > 0 {
			if err := d.Next(); err != nil {
				return err
			}
		}
		if err := r.podLog(pod, o, d).write(ctx, drained, live); err != nil {
			return err
		}
		done[pod.UID] = true
		o.Tail = -1 // of later pods everything is wanted
	}
}

// nextPod waits for the next pod of a host that has a log and is not done. It returns nil if
// there will be none.
func (r *reader) nextPod(ctx context.Context, host int, done map[string]bool) (*Pod, error) {
	for {
		finished := r.tracker.isFinished()
		now, changed := r.tracker.Get()
		pods := now.Value.hosts[host]
		left := podsAfter(pods, done)
		if len(done) == 0 || r.options.Attempt > 0 {
			left = r.chosen(left)
		}
		if i := slices.IndexFunc(left, r.mayHaveLog); i >= 0 {
			return left[i], nil
		}
		isLater := func(p *Pod) bool { return now.Value.attemptOf(p).number > r.options.Attempt }
		if finished || now.Closed || r.options.Attempt > 0 && (len(done) > 0 || slices.ContainsFunc(pods, isLater)) {
			return nil, now.Err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-r.tracker.finished:
		case <-changed:
		}
	}
}

// podsAfter returns the pods after the last one that is done. Pods before it were not wanted.
func podsAfter(pods []*Pod, done map[string]bool) []*Pod {
	for i, p := range slices.Backward(pods) {
		if done[p.UID] {
			return pods[i+1:]
		}
	}
	return pods
}

// writeDeletedPods writes what the archive has of those chosen attempts whose pods are gone, and
// returns the chosen pods that exist. If only the last lines are wanted, these pods have them;
// without any pod, the last attempt has them.
func (r *reader) writeDeletedPods(ctx context.Context, host int, d *Decoder) ([]*Pod, error) {
	now := r.tracker.now()
	pods := r.chosen(now.hosts[host])
	gone := slices.DeleteFunc(now.gone(host), func(a attempt) bool {
		return r.options.Attempt > 0 && r.options.Attempt != a.number
	})
	begin := Point{Host: host}
	switch n := r.options.Tail; {
	case !r.archive.hasLog() || n == 0 || n > 0 && len(pods) > 0:
		return pods, nil
	case n > 0:
		begin.Tail, gone = n, gone[max(len(gone)-1, 0):]
	}
	for _, a := range gone {
		begin.Pod = a.leader
		d.begins(a.number)
		if _, err := r.archive.Rest(ctx, begin, d); err != nil {
			return nil, err
		}
		if err := d.Next(); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

// writeUnreportedPods writes what the archive has of pods that have not started as far as the source
// knows, although the job has ended: nodes report late.
func (r *reader) writeUnreportedPods(ctx context.Context, host int, done map[string]bool, d *Decoder) error {
	if !r.archive.hasLog() || r.options.Tail >= 0 {
		return nil
	}
	now := r.tracker.now()
	for _, p := range r.chosen(podsAfter(now.hosts[host], done)) {
		if err := d.Next(); err != nil {
			return err
		}
		d.begins(now.attemptOf(p).number)
		if _, err := r.archive.Rest(ctx, Point{Pod: now.attemptOf(p).leader, Host: host}, d); err != nil {
			return err
		}
	}
	return nil
}

// chosen returns those of a host's pods that the options choose: the pods of one attempt, or the
// last pod that has a log if only the last lines are wanted.
func (r *reader) chosen(pods []*Pod) []*Pod {
	pods = slices.Clone(pods)
	switch now := r.tracker.now(); {
	case r.options.Attempt > 0:
		return slices.DeleteFunc(pods, func(p *Pod) bool { return now.attemptOf(p).number != r.options.Attempt })
	case r.options.Tail >= 0:
		pods = slices.DeleteFunc(pods, func(p *Pod) bool { return !r.mayHaveLog(p) })
		return pods[max(len(pods)-1, 0):]
	default:
		return pods
	}
}

// mayHaveLog reports whether a pod can have a log. If its node has lost the container, it is
// not known whether that had started, and only the archive has the log.
func (r *reader) mayHaveLog(p *Pod) bool { return !p.Started.IsZero() || r.archive.hasLog() && p.Lost }

// rotateEvery is how often a kubelet checks whether a log is too long.
const rotateEvery = 10 * time.Second

// mayBeRotated reports whether a container has run long enough for its node to have dropped
// lines of the log.
func (r *reader) mayBeRotated(p *Pod) bool {
	end := r.source.Now()
	if p.Ended {
		end = p.Finished
	}
	return end.Sub(p.Started) >= rotateEvery
}
