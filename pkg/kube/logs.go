package kube

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/logs"
)

// Logs writes what the job's pods printed, attempt by attempt; with Follow until
// the job has ended and everything is written.
func (w *Workload) Logs(ctx context.Context, id string, o logs.Options, out io.Writer) error {
	decoder := logs.NewDecoder(out, o)
	if !o.Follow {
		s, err := w.client.snapshot(ctx, id)
		if err != nil {
			return err
		}
		return w.printed(ctx, id, s, o, decoder)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	board := newBoard()
	go func() {
		board.close(w.client.observe(ctx, id, func(s snapshot) bool {
			board.post(s)
			return s.status(s.list()).State.Ended()
		}))
	}()
	err := w.followAll(ctx, id, board, o, decoder)
	if errors.Is(err, errEnded) {
		return nil
	}
	return err
}

// printed writes what there is of the chosen attempts.
func (w *Workload) printed(ctx context.Context, id string, s snapshot, o logs.Options, out *logs.Decoder) error {
	pods := chosen(byAge(s.list()), o)
	for i, p := range pods {
		if worker := workerOf(p); worker.State.Running == nil && worker.State.Terminated == nil {
			continue
		}
		if i > 0 {
			if err := out.Next(); err != nil {
				return err
			}
		}
		err := w.stream(id, p, o, out).copy(ctx, false)
		if err != nil && !apierrors.IsNotFound(err) && !errors.Is(err, errEnded) {
			return err
		}
	}
	return nil
}

// chosen are the pods that the options ask for: one attempt, or the last one
// when only its last lines are wanted.
func chosen(pods []corev1.Pod, o logs.Options) []corev1.Pod {
	switch {
	case o.Attempt > len(pods):
		return nil
	case o.Attempt > 0:
		return pods[o.Attempt-1 : o.Attempt]
	case o.Tail >= 0 && len(pods) > 0:
		return pods[len(pods)-1:]
	default:
		return pods
	}
}

// followAll writes one pod after the other until the job has ended; errEnded
// when the log itself told so.
func (w *Workload) followAll(ctx context.Context, id string, board *board, o logs.Options, out *logs.Decoder) error {
	done := map[types.UID]bool{}
	for {
		pod, last, err := board.next(ctx, o, done)
		if err != nil || last {
			return err
		}
		if len(done) > 0 {
			if err := out.Next(); err != nil {
				return err
			}
		}
		if err := followPod(ctx, board, w.stream(id, pod, o, out)); err != nil {
			return err
		}
		done[pod.UID] = true
		o.Tail = -1 // what comes after the beginning is all wanted
	}
}

// followPod writes a pod's log until its container has ended and nothing is
// left to read. A read that began while the container ran may have missed its
// last lines: only one that began afterwards tells.
func followPod(ctx context.Context, board *board, s *stream) error {
	wait := backoff{}
	for {
		over := board.over(s.uid)
		at := s.at
		err := s.copy(ctx, !over)
		var write *writeError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &write):
			return write.err
		case apierrors.IsNotFound(err), errors.Is(err, errRotated):
			return followStored(ctx, board, s)
		case refused(err), errors.Is(err, errEnded):
			return err
		case err == nil && over:
			return nil
		}
		if s.at != at {
			wait = backoff{}
		}
		if board.over(s.uid) {
			continue
		}
		if err := wait.sleep(ctx); err != nil {
			return err
		}
	}
}

// followStored goes on in the store, which gets the log in parts, the last one
// before the container ends.
func followStored(ctx context.Context, board *board, s *stream) error {
	if s.options.Rest == nil {
		return nil
	}
	p := s.point()
	for {
		changed, over := board.changed(), board.over(s.uid)
		var err error
		if p, err = s.options.Rest(ctx, p, s.out); err != nil || over {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-time.After(storedAgain):
		}
	}
}

// storedAgain is when the store is asked for another part of a log. The runner
// stores one every 30 seconds.
const storedAgain = 5 * time.Second

// refused tells an answer of the API server that won't change from a connection
// that broke, and from a container that is still waiting to start.
func refused(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && !transient(err) && !apierrors.IsBadRequest(err)
}

// board holds the newest snapshot for those who follow logs.
type board struct {
	mu      sync.Mutex
	now     snapshot
	posted  chan struct{} // closed and replaced at every change
	ended   bool
	failure error
}

func newBoard() *board { return &board{posted: make(chan struct{})} }

func (b *board) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	close(b.posted)
	b.posted = make(chan struct{})
}

// post takes a copy: the snapshot goes on changing.
func (b *board) post(s snapshot) {
	pods := make(map[types.UID]corev1.Pod, len(s.pods))
	for uid, p := range s.pods {
		pods[uid] = p
	}
	b.change(func() { b.now = snapshot{owner: s.owner, pods: pods} })
}

// close says that there is no newer snapshot: the job has ended, or err.
func (b *board) close(err error) { b.change(func() { b.ended, b.failure = true, err }) }

// changed is closed when there is something new.
func (b *board) changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.posted
}

// over tells whether a pod's container has ended, or the pod is gone.
func (b *board) over(uid types.UID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.now.pods[uid]
	return !ok || workerOf(p).State.Terminated != nil
}

// next waits for a pod that has begun to print and is not done. last says that
// there will be none.
func (b *board) next(ctx context.Context, o logs.Options, done map[types.UID]bool) (pod corev1.Pod, last bool, err error) {
	for {
		b.mu.Lock()
		pods, posted, ended, failure := byAge(b.now.list()), b.posted, b.ended, b.failure
		b.mu.Unlock()
		if len(done) > 0 {
			o.Tail = -1
		}
		for _, p := range chosen(pods, o) {
			worker := workerOf(p)
			if !done[p.UID] && (worker.State.Running != nil || worker.State.Terminated != nil) {
				return p, false, nil
			}
		}
		if ended || o.Attempt > 0 && done[attemptOf(pods, o.Attempt)] {
			return pod, true, failure
		}
		select {
		case <-ctx.Done():
			return pod, true, ctx.Err()
		case <-posted:
		}
	}
}

func attemptOf(pods []corev1.Pod, attempt int) types.UID {
	if attempt > len(pods) {
		return ""
	}
	return pods[attempt-1].UID
}
