package store

import (
	"sync"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// retryTime is how long consecutive failures are retried: longer than a server takes
// to restart, shorter than anyone waits without a message.
const retryTime = time.Minute

// pauses are the waits between retries: random ones, up to these.
func pauses() gax.Backoff {
	return gax.Backoff{Initial: 100 * time.Millisecond, Max: 4 * time.Second, Multiplier: 2}
}

type retryPolicy struct {
	transport *transport.Transport
	now       func() time.Time

	mu    sync.Mutex
	since time.Time // the first of the consecutive failures
}

func newRetryPolicy(t *transport.Transport) *retryPolicy {
	return &retryPolicy{transport: t, now: time.Now}
}

// retry is called after every failure.
func (p *retryPolicy) retry(err error) bool {
	if !p.temporary(err) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		p.since = p.now()
	}
	return p.now().Sub(p.since) < retryTime
}

// temporary reports whether a failure may pass. If a server has never answered, the
// address is wrong or there is no network, and that is reported at once; a server that
// has answered will be back.
func (p *retryPolicy) temporary(err error) bool {
	if transport.Dialing(err) {
		return p.transport.Reached()
	}
	return storage.ShouldRetry(err)
}

// reset is called after a success.
func (p *retryPolicy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = time.Time{}
}
