package kube

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
	"github.com/kubectl-kinetic/kinetic/pkg/transport"
)

// Logs writes what the job's pods printed, host by host and attempt by attempt;
// with Follow until the job has ended and everything is written.
func (w *Cluster) Logs(ctx context.Context, id string, o logs.Options, out screen.Streams) error {
	known, err := records(ctx, o)
	if err != nil {
		return err
	}
	r := &reader{workload: w, id: id, options: o, board: newBoard(known, o.Chunks)}
	if !o.Follow {
		s, err := w.client.snapshot(ctx, id)
		if err != nil {
			return err
		}
		r.board.post(s)
		return r.all(ctx, out, r.printed)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { r.board.close(r.watch(ctx)) }()
	return r.all(ctx, out, r.follow)
}

// records are the attempts that the store knows, in their order.
func records(ctx context.Context, o logs.Options) ([]api.Attempt, error) {
	if o.Attempts == nil {
		return nil, nil
	}
	return o.Attempts(ctx)
}

// reader reads the logs of a job.
type reader struct {
	workload *Cluster
	id       string
	options  logs.Options
	board    *board
	out      *outlet
}

// all reads the log of each chosen host, by itself or all at the same time.
func (r *reader) all(ctx context.Context, out screen.Streams, read func(context.Context, int, *logs.Decoder) error) error {
	r.out = &outlet{}
	out = r.out.before(out)
	if !r.options.Merges() {
		err := read(ctx, max(r.options.Host, 0), logs.NewDecoder(out, r.options))
		if errors.Is(err, errEnded) {
			return nil
		}
		return err
	}
	mux := r.options.NewMultiplexer(out)
	g, ctx := errgroup.WithContext(ctx)
	for host := range r.options.Hosts {
		g.Go(func() error {
			decoder := logs.NewDecoder(mux.Host(host), r.options)
			err := read(ctx, host, decoder)
			if errors.Is(err, errEnded) {
				r.board.finish()
				err = nil
			}
			if err != nil {
				return err
			}
			return decoder.Next()
		})
	}
	return g.Wait()
}

// watch posts the job's objects until it has ended and nothing of it runs. What
// runs on for longer than its grace is not waited for.
func (r *reader) watch(ctx context.Context) error {
	var late *time.Timer
	defer func() {
		if late != nil {
			late.Stop()
		}
	}()
	return r.workload.observe(ctx, r.id, func(s snapshot) bool {
		r.board.post(s)
		pods := s.list()
		if !s.State(pods).State.Ended() {
			return false
		}
		if late == nil {
			late = time.AfterFunc(status.Grace(pods)+noticeTime, r.board.finish)
		}
		return !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return status.WorkerOf(p).State.Running != nil })
	})
}

// printed writes what there is of the chosen attempts of a host.
func (r *reader) printed(ctx context.Context, host int, out *logs.Decoder) error {
	live, cancel := context.WithCancel(ctx)
	cancel() // nothing is waited for
	pods, err := r.before(ctx, host, out)
	for i, p := range pods {
		if err != nil {
			return err
		}
		if !r.mayHaveLog(p) {
			continue
		}
		if i > 0 {
			if err := out.Next(); err != nil {
				return err
			}
		}
		s := r.stream(p, r.options, out)
		if r.mayBeRotated(p) && s.lacksBeginning(ctx) {
			_, err = s.options.Rest(ctx, s.point(), out)
		} else {
			err = followPod(ctx, live, r.board, s)
		}
		if errors.Is(err, errEnded) {
			err = nil
		}
	}
	return err
}

// before writes what the store has of the chosen attempts whose pods are gone, and gives
// the chosen pods that are there. Where only the end of the log is wanted, they have it, or
// else the last attempt.
func (r *reader) before(ctx context.Context, host int, out *logs.Decoder) ([]corev1.Pod, error) {
	pods, gone := r.chosen(r.board.ofHost(host)), r.goneOf(host)
	begin := logs.Point{Host: host}
	switch n := r.options.Tail; {
	case r.options.Rest == nil || n == 0 || n > 0 && len(pods) > 0:
		return pods, nil
	case n > 0:
		begin.Tail, gone = n, gone[max(len(gone)-1, 0):]
	}
	for _, a := range gone {
		begin.Pod = string(a.leader)
		if _, err := r.options.Rest(ctx, begin, out); err != nil {
			return nil, err
		}
		if err := out.Next(); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

// goneOf are the chosen attempts of a host whose pods are gone.
func (r *reader) goneOf(host int) []attempt {
	return slices.DeleteFunc(r.board.gone(host), func(a attempt) bool {
		return r.options.Attempt > 0 && r.options.Attempt != a.number
	})
}

// chosen are the pods of a host that the options ask for: those of one attempt, or
// the last one that has begun when only its last lines are wanted.
func (r *reader) chosen(pods []corev1.Pod) []corev1.Pod {
	switch {
	case r.options.Attempt > 0:
		return slices.DeleteFunc(pods, func(p corev1.Pod) bool { return r.board.attemptOf(p) != r.options.Attempt })
	case r.options.Tail >= 0:
		pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return !r.mayHaveLog(p) })
		return pods[max(len(pods)-1, 0):]
	default:
		return pods
	}
}

// stream makes the stream of one pod.
func (r *reader) stream(p corev1.Pod, o logs.Options, out io.Writer) *stream {
	s := r.workload.stream(r.id, p, o, out)
	s.attempt, s.host = r.board.leaderOf(p), status.HostOf(p)
	return s
}

// rotateEvery is how often a kubelet looks whether a log is too long.
const rotateEvery = 10 * time.Second

// mayBeRotated tells whether a container has run for so long that its node may have
// dropped lines of its log.
func (r *reader) mayBeRotated(p corev1.Pod) bool {
	worker := status.WorkerOf(p)
	end := r.workload.client.now()
	if t := worker.State.Terminated; t != nil {
		end = t.FinishedAt.Time
	}
	return end.Sub(status.StartOf(worker)) >= rotateEvery
}

// follow writes one pod of a host after the other until the job has ended; errEnded
// when the log itself told so.
func (r *reader) follow(ctx context.Context, host int, out *logs.Decoder) error {
	if err := r.board.begun(ctx); err != nil {
		return err
	}
	there, err := r.before(ctx, host, out)
	if err != nil {
		return err
	}
	live, drained, cancel := r.board.draining(ctx, r.out)
	defer cancel()
	o, done := r.options, map[types.UID]bool{}
	if len(there) == 0 {
		o.Tail = -1 // what begins from now on is all wanted
	}
	for {
		pod, last, err := r.next(ctx, host, done)
		if err != nil {
			return err
		}
		if last {
			return r.unseen(ctx, host, done, out)
		}
		if len(done) > 0 {
			if err := out.Next(); err != nil {
				return err
			}
		}
		s := r.stream(pod, o, out)
		if r.mayBeRotated(pod) && s.lacksBeginning(drained) {
			err = followStored(drained, live, r.board, s)
		} else {
			err = followPod(drained, live, r.board, s)
		}
		if err != nil {
			return err
		}
		done[pod.UID] = true
		o.Tail = -1 // what comes after the beginning is all wanted
	}
}

// unseen writes what the store has of a host's pods that have not begun as far as the
// cluster knows when the job has ended: their nodes tell late.
func (r *reader) unseen(ctx context.Context, host int, done map[types.UID]bool, out *logs.Decoder) error {
	pods := r.board.ofHost(host)
	if r.options.Rest == nil || r.options.Tail >= 0 {
		return nil
	}
	for _, p := range r.chosen(slices.Clone(pods[doneOf(pods, done):])) {
		if err := out.Next(); err != nil {
			return err
		}
		if _, err := r.options.Rest(ctx, logs.Point{Pod: string(r.board.leaderOf(p)), Host: host}, out); err != nil {
			return err
		}
	}
	return nil
}

// next waits for a pod of a host that has begun to print and is not done. last
// says that there will be none.
func (r *reader) next(ctx context.Context, host int, done map[types.UID]bool) (pod corev1.Pod, last bool, err error) {
	for {
		posted, ended, failure := r.board.standing()
		pods := r.board.ofHost(host)
		wanted := pods[doneOf(pods, done):]
		if len(done) == 0 || r.options.Attempt > 0 {
			wanted = r.chosen(slices.Clone(wanted))
		}
		for _, p := range wanted {
			if r.mayHaveLog(p) {
				return p, false, nil
			}
		}
		later := slices.ContainsFunc(pods, func(p corev1.Pod) bool { return r.board.attemptOf(p) > r.options.Attempt })
		if ended || r.options.Attempt > 0 && (len(done) > 0 || later) {
			return pod, true, failure
		}
		select {
		case <-ctx.Done():
			return pod, true, ctx.Err()
		case <-r.board.finished:
		case <-posted:
		}
	}
}

// doneOf is the number of pods up to the last that is done: those before it were
// not wanted.
func doneOf(pods []corev1.Pod, done map[types.UID]bool) int {
	for i, p := range slices.Backward(pods) {
		if done[p.UID] {
			return i + 1
		}
	}
	return 0
}

// mayHaveLog reports whether there is something to read of a pod. When a container
// that its node has lost began nobody knows, and only the store has its log.
func (r *reader) mayHaveLog(p corev1.Pod) bool {
	t := status.WorkerOf(p).State.Terminated
	return status.HasStarted(p) || r.options.Rest != nil && t != nil && t.Reason == "ContainerStatusUnknown"
}

// followPod writes a pod's log until its container has ended and nothing is left
// to read, or, once live is over, what there is. A read that began while the
// container ran may have missed its last lines: only one that began afterwards
// tells. Where the node can't give the log of a container that has ended, the rest
// comes from the store.
//
// What is there already, at the beginning or after a connection broke, is read
// before the log is followed: a node sends it in large pieces, and line by line to
// whoever follows.
func followPod(ctx, live context.Context, board *board, s *stream) error {
	wait, follow := backoff.Timer{}, false
	var failing time.Time // when the log of the ended container was first not to be read
	for {
		over := live.Err() != nil || board.over(s.uid)
		at := s.at
		var err error
		if follow && !over {
			err = s.copy(live, true)
		} else {
			err = s.copy(ctx, false)
		}
		if err == nil && over {
			err = s.finish()
		}
		if s.at != at {
			wait, failing = backoff.Timer{}, time.Time{}
		}
		if over && failing.IsZero() {
			failing = time.Now()
		}
		var write *writeError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &write):
			return write.err
		case apierrors.IsNotFound(err), errors.Is(err, errRotated), over && apierrors.IsBadRequest(err):
			return readElsewhere(ctx, live, board, s, err)
		case refused(err) && !apierrors.IsBadRequest(err), errors.Is(err, errEnded): // a container may yet wait to start
			return err
		case err == nil && over:
			return nil
		case err == nil && !follow:
			follow = true
			continue
		case over && time.Since(failing) >= retryFor && (!transport.Unanswered(err) || live.Err() != nil):
			return readElsewhere(ctx, live, board, s, err)
		}
		follow = err == nil
		pause := ctx
		if !over {
			pause = live
			if board.over(s.uid) {
				continue // what came last is read at once
			}
		}
		if wait.Sleep(pause) != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
