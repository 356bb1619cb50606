package store

import (
	"sync"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"

	"github.com/kubectl-kinetic/kinetic/pkg/transport"
)

// patienceLasts is how long failures in a row are retried: longer than a
// server restarts, shorter than anybody waits without a word.
const patienceLasts = time.Minute

// pauses lie between retries: random ones, up to these.
var pauses = gax.Backoff{Initial: 100 * time.Millisecond, Max: 4 * time.Second, Multiplier: 2}

// patience decides whether one operation is tried once more.
type patience struct {
	transport *transport.Transport
	now       func() time.Time

	mu    sync.Mutex
	since time.Time // the first of the failures in a row
}

func newPatience(t *transport.Transport) *patience { return &patience{transport: t, now: time.Now} }

// retry is asked after every failure.
func (p *patience) retry(err error) bool {
	if !p.temporary(err) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		p.since = p.now()
	}
	return p.now().Sub(p.since) < patienceLasts
}

// temporary distinguishes trouble that passes from what is wrong for good. A server
// that has never answered is a wrong address or no network, and said so at
// once; one that has will be back.
func (p *patience) temporary(err error) bool {
	if transport.Dialing(err) {
		return p.transport.Reached()
	}
	return storage.ShouldRetry(err)
}

// reset is called when something has succeeded.
func (p *patience) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = time.Time{}
}
