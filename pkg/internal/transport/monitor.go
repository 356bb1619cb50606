package transport

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

const (
	// noWordAfter is how long a request may take before the user is notified.
	noWordAfter = 2 * time.Second
	// OutageLasts is how long to wait for a server that was reached before: an upgrade of
	// a control plane takes a quarter of an hour.
	OutageLasts = 30 * time.Minute
)

// Monitor is a Transport that notifies the user when its server is slow to answer, and
// decides how long an outage may last.
type Monitor struct {
	*Transport
	server string
	// notify, which may be nil, gets lines for the user.
	notify    func(string)
	notifying sync.Mutex // one line at a time

	mu       sync.Mutex
	waiting  bool      // the user knows that the server has not answered so far
	since    time.Time // of the first of the consecutive failures
	reported bool      // the user knows about the failures
}

// NewMonitor returns a Monitor of the server with that name. notify, which may be nil, gets
// a line when the server is slow to answer.
func NewMonitor(t *Transport, server string, notify func(string)) *Monitor {
	return &Monitor{Transport: t, server: server, notify: notify}
}

// RoundTrip implements http.RoundTripper. If no answer can be expected soon, the error is
// an UnreachableError.
func (m *Monitor) RoundTrip(r *http.Request) (*http.Response, error) {
	slow := time.AfterFunc(noWordAfter, func() { m.slow(r.URL.Host) })
	defer slow.Stop()
	answer, err := m.Transport.RoundTrip(r)
	if err != nil {
		return nil, m.failed(r, err)
	}
	m.answered()
	return answer, nil
}

// slow reports once that a server has not answered at all so far.
func (m *Monitor) slow(host string) {
	reached := m.Reached()
	m.mu.Lock()
	first := !reached && !m.waiting
	m.waiting = m.waiting || first
	m.mu.Unlock()
	if first {
		m.Say("%s at %s does not answer yet", m.server, host)
	}
}

// Say writes a line for the user. It must be called without holding mu: a stopped
// terminal only blocks requests that have something to report.
func (m *Monitor) Say(format string, args ...any) {
	if m.notify == nil {
		return
	}
	m.notifying.Lock()
	defer m.notifying.Unlock()
	m.notify(fmt.Sprintf(format, args...))
}

func (m *Monitor) answered() {
	m.mu.Lock()
	again := m.reported
	m.reported, m.since = false, time.Time{}
	m.mu.Unlock()
	if again {
		m.Say("%s answers again", m.server)
	}
}

// failed handles a request without an answer. If the server was never reached, the
// address is wrong or there is no network, and failed gives up at once; a server that was
// reached will be back.
func (m *Monitor) failed(r *http.Request, err error) error {
	if r.Context().Err() != nil || expired(err) != nil {
		return err
	}
	final, isNew := m.count(err)
	switch {
	case final:
		return &UnreachableError{err}
	case isNew:
		m.Say("%s at %s can't be reached (%v); trying again", m.server, r.URL.Host, err)
	}
	return err
}

// count records a failure. final means that the server is given up, and isNew that the
// user doesn't know about the outage yet.
func (m *Monitor) count(err error) (final, isNew bool) {
	reached := m.Reached()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.since.IsZero() {
		m.since = m.Now()
	}
	if !reached || m.Now().Sub(m.since) >= OutageLasts {
		return true, false
	}
	isNew = Dialing(err) && !m.reported
	m.reported = m.reported || isNew
	return false, isNew
}

// UnreachableError means that a request got no answer, and none can be expected soon.
type UnreachableError struct{ cause error }

func (e *UnreachableError) Error() string { return e.cause.Error() }

// Kind implements what pkg/cmd/cli asks an error for.
func (e *UnreachableError) Kind() api.ErrorKind { return api.KindUnreachable }

func (e *UnreachableError) Unwrap() error { return e.cause }
