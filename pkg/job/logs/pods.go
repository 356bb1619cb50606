package logs

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
)

// podTracker shares what is known about the pods of a job with all that follow its hosts.
type podTracker struct {
	*parallel.Value[*podState]
	// finished is closed when nothing is waited for any more: the job has ended, and so has the
	// grace period of its pods.
	finished chan struct{}
	finish   func()
}

// newPodTracker returns a podTracker that knows the attempts in the store. With chunks each host
// has its own attempts.
func newPodTracker(known []api.Attempt, chunks bool) *podTracker {
	t := &podTracker{Value: parallel.NewValue(newPodState(known, chunks)), finished: make(chan struct{})}
	t.finish = sync.OnceFunc(func() { close(t.finished) })
	return t
}

// update sets the pods that exist now. Only one goroutine may call it.
func (t *podTracker) update(pods []Pod) { t.Set(t.now().with(pods)) }

func (t *podTracker) now() *podState {
	state, _ := t.Get()
	return state.Value
}

// waitForPods waits until the pods are known, or will never be.
func (t *podTracker) waitForPods(ctx context.Context) error {
	for {
		now, changed := t.Get()
		if now.Set {
			return nil
		}
		if now.Closed {
			return now.Err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (t *podTracker) isFinished() bool {
	select {
	case <-t.finished:
		return true
	default:
		return false
	}
}

// hasEnded reports whether the container of a pod has ended. It is also true once pods are no
// longer watched, because that would never be known.
func (t *podTracker) hasEnded(uid string) bool {
	now, _ := t.Get()
	return now.Closed || now.Value.hasEnded(uid)
}

// waitForEnd waits until hasEnded is true for a pod, or ctx is done.
func (t *podTracker) waitForEnd(ctx context.Context, uid string) {
	for {
		_, changed := t.Get()
		if t.hasEnded(uid) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// podState is what is known about a job's pods and attempts at one moment. It is immutable.
type podState struct {
	pods     map[string]*Pod   // by UID
	hosts    map[int][]*Pod    // by host, each from the oldest to the newest
	attempts map[int][]attempt // of host 0, or of each chunk of a map
	chunks   bool              // each host has its own attempts
}

type attempt struct {
	number  int
	leader  string    // UID of the pod of host 0, or of the chunk
	created time.Time // when that pod was created; zero if it was not seen
}

func newPodState(known []api.Attempt, chunks bool) *podState {
	s := &podState{attempts: map[int][]attempt{}, chunks: chunks}
	for _, a := range known {
		s.attempts[a.Host] = append(s.attempts[a.Host], attempt{number: a.Attempt, leader: a.UID})
	}
	return s
}

// with returns the state that follows this one when these are the pods.
func (s *podState) with(pods []Pod) *podState {
	next := &podState{pods: make(map[string]*Pod, len(pods)), hosts: map[int][]*Pod{}}
	next.attempts, next.chunks = maps.Clone(s.attempts), s.chunks
	for i := range pods {
		p := &pods[i]
		next.pods[p.UID] = p
		next.hosts[p.Host] = append(next.hosts[p.Host], p)
		if p.Host == next.leaderHost(p.Host) {
			next.addAttempt(p)
		}
	}
	return next
}

// leaderHost returns the host whose pods record the attempts of a host.
func (s *podState) leaderHost(host int) int {
	if s.chunks {
		return host
	}
	return 0
}

// addAttempt adds the attempt of a pod that records attempts. If the pod has not recorded its
// attempt, that comes after all that are recorded.
func (s *podState) addAttempt(p *Pod) {
	attempts := s.attempts[p.Host]
	i := slices.IndexFunc(attempts, func(a attempt) bool { return a.leader == p.UID })
	switch {
	case i >= 0 && attempts[i].created.Equal(p.Created):
		return
	case i >= 0:
		attempts = slices.Clone(attempts)
		attempts[i].created = p.Created
	default:
		number := 1
		if len(attempts) > 0 {
			number = attempts[len(attempts)-1].number + 1
		}
		attempts = append(slices.Clone(attempts), attempt{number, p.UID, p.Created})
	}
	s.attempts[p.Host] = attempts
}

// hasEnded reports whether a pod's container has ended, or the pod is gone.
func (s *podState) hasEnded(uid string) bool {
	p := s.pods[uid]
	return p == nil || p.Ended
}

// gone returns the attempts of a host before the first that has a pod or may still get one.
func (s *podState) gone(host int) []attempt {
	there := map[string]bool{}
	for _, p := range s.hosts[host] {
		there[s.attemptOf(p).leader] = true
	}
	var gone []attempt
	for _, a := range s.attempts[s.leaderHost(host)] {
		leader := s.pods[a.leader]
		if there[a.leader] || leader != nil && !leader.Deleted && !leader.Ended {
			break
		}
		gone = append(gone, a)
	}
	return gone
}

// attemptOf returns the attempt that a pod belongs to. Workers are created after their leader,
// and are all gone before the next leader is created. A worker whose leader was not seen belongs
// to the last attempt that the store has.
func (s *podState) attemptOf(p *Pod) attempt {
	var found attempt
	for _, a := range s.attempts[s.leaderHost(p.Host)] {
		if a.leader == p.UID {
			return a
		}
		if a.created.IsZero() || !a.created.After(p.Created) {
			found = a
		}
	}
	return found
}
