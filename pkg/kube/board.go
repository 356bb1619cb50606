package kube

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// board holds the newest snapshot for those who follow logs, and what is known of
// the attempts.
type board struct {
	mu       sync.Mutex
	pods     map[types.UID]*corev1.Pod
	hosts    map[int][]corev1.Pod // those of each host, by attempt
	attempts map[int][]attempt    // those of host 0, or of each chunk of a map
	chunks   bool                 // each host has attempts of its own
	posted   chan struct{}        // closed and replaced at every change
	some     bool                 // there was a snapshot
	ended    bool
	failure  error
	finished chan struct{}
	finish   func()
}

// attempt is one start of a job.
type attempt struct {
	number int
	leader types.UID // its pod
	made   time.Time // zero where the pod was not seen
}

// newBoard makes a board that knows the attempts which the store knows, with chunks
// those of each host by itself.
func newBoard(known []api.Attempt, chunks bool) *board {
	b := &board{attempts: map[int][]attempt{}, chunks: chunks, posted: make(chan struct{}), finished: make(chan struct{})}
	b.finish = sync.OnceFunc(func() { close(b.finished) })
	for _, a := range known {
		b.attempts[a.Host] = append(b.attempts[a.Host], attempt{number: a.Attempt, leader: types.UID(a.UID)})
	}
	return b
}

func (b *board) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	close(b.posted)
	b.posted = make(chan struct{})
}

// post takes a snapshot that does not change any more.
func (b *board) post(s snapshot) {
	hosts := map[int][]corev1.Pod{}
	for _, p := range s.list() {
		hosts[status.HostOf(p)] = append(hosts[status.HostOf(p)], p)
	}
	b.change(func() {
		b.pods, b.hosts, b.some = s.pods, hosts, true
		for host, pods := range hosts {
			if host != b.leads(host) {
				continue
			}
			for _, p := range pods {
				b.meet(p, host)
			}
		}
	})
}

// leads is the host whose pods are the attempts of a host.
func (b *board) leads(host int) int {
	if b.chunks {
		return host
	}
	return 0
}

// meet gives a pod of a host that leads the number of its attempt: one that has not
// recorded itself comes after all that have.
func (b *board) meet(p corev1.Pod, host int) {
	number := 1
	for i, a := range b.attempts[host] {
		if a.leader == p.UID {
			b.attempts[host][i].made = p.CreationTimestamp.Time
			return
		}
		number = a.number + 1
	}
	b.attempts[host] = append(b.attempts[host], attempt{number, p.UID, p.CreationTimestamp.Time})
}

// close says that there is no newer snapshot: the job has ended, or err.
func (b *board) close(err error) { b.change(func() { b.ended, b.failure = true, err }) }

// changed is closed when there is something new.
func (b *board) changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.posted
}

// standing tells whether there will be anything new, and when.
func (b *board) standing() (posted <-chan struct{}, ended bool, failure error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.finished:
		return b.posted, true, b.failure
	default:
		return b.posted, b.ended, b.failure
	}
}

// begun waits for the first snapshot.
func (b *board) begun(ctx context.Context) error {
	for {
		b.mu.Lock()
		some, posted, failure := b.some || b.ended, b.posted, b.failure
		b.mu.Unlock()
		if some {
			return failure
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-posted:
		}
	}
}

// over tells whether a pod's container has ended, or the pod is gone.
func (b *board) over(uid types.UID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.pods[uid]
	return !ok || status.WorkerOf(*p).State.Terminated != nil
}

// untilOver waits until a pod is over, or ctx.
func (b *board) untilOver(ctx context.Context, uid types.UID) {
	for changed := b.changed(); !b.over(uid); changed = b.changed() {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// ofHost are the pods of one host, by attempt.
func (b *board) ofHost(host int) []corev1.Pod {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.hosts[host])
}

// gone are the attempts of a host before the first whose pod is there: those in
// which it will have none any more.
func (b *board) gone(host int) []attempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	there := map[types.UID]bool{}
	for _, p := range b.hosts[host] {
		there[b.find(p).leader] = true
	}
	var gone []attempt
	for _, a := range b.attempts[b.leads(host)] {
		leader, led := b.pods[a.leader]
		if there[a.leader] || led && leader.DeletionTimestamp == nil && status.WorkerOf(*leader).State.Terminated == nil {
			break
		}
		gone = append(gone, a)
	}
	return gone
}

// of is the attempt that a pod belongs to. Workers are made after their leader,
// and are all gone before there is another: those whose leader was not seen are of
// the last that the store knows.
func (b *board) of(p corev1.Pod) attempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.find(p)
}

func (b *board) find(p corev1.Pod) attempt {
	var found attempt
	for _, a := range b.attempts[b.leads(status.HostOf(p))] {
		if a.leader == p.UID {
			return a
		}
		if a.made.IsZero() || !a.made.After(p.CreationTimestamp.Time) {
			found = a
		}
	}
	return found
}

func (b *board) attemptOf(p corev1.Pod) int { return b.of(p).number }

func (b *board) leaderOf(p corev1.Pod) types.UID { return b.of(p).leader }
