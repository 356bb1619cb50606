package transport

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// noWordAfter is how long a request may take before the user hears of it.
	noWordAfter = 2 * time.Second
	// outageLasts is how long a server that was reached before is waited for: an upgrade of
	// a control plane takes a quarter of an hour.
	outageLasts = 30 * time.Minute
)

// Monitor is a Transport that says when its server is slow to answer, and decides how
// long an outage may last.
type Monitor struct {
	*Transport
	server string
	// tell, which may be nil, gets lines for the user.
	tell    func(string)
	telling sync.Mutex // one line at a time

	mu      sync.Mutex
	waiting bool      // it was said that the server has not answered so far
	since   time.Time // of the first of the failures in a row
	told    bool      // about them
}

// NewMonitor returns a Monitor of the server with that name. tell, which may be nil, gets a
// line when the server is slow to answer.
func NewMonitor(t *Transport, server string, tell func(string)) *Monitor {
	return &Monitor{Transport: t, server: server, tell: tell}
}

// RoundTrip implements http.RoundTripper. An error after which no answer is to be expected
// soon is an UnreachableError.
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

// slow says once that a server has not answered at all so far.
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

// Say writes a line for the user. It is called without the mutex of the state: a
// stopped terminal holds up only the requests that have something to say.
func (m *Monitor) Say(format string, args ...any) {
	if m.tell == nil {
		return
	}
	m.telling.Lock()
	defer m.telling.Unlock()
	m.tell(fmt.Sprintf(format, args...))
}

func (m *Monitor) answered() {
	m.mu.Lock()
	again := m.told
	m.told, m.since = false, time.Time{}
	m.mu.Unlock()
	if again {
		m.Say("%s answers again", m.server)
	}
}

// failed looks at a request without an answer. A server that was never reached is a wrong
// address or no network, and given up at once; one that was reached will be back.
func (m *Monitor) failed(r *http.Request, err error) error {
	if r.Context().Err() != nil || AsClockError(err, time.Time{}) != nil {
		return err
	}
	final, news := m.count(err)
	switch {
	case final:
		return &UnreachableError{err}
	case news:
		m.Say("%s at %s can't be reached (%v); trying again", m.server, r.URL.Host, err)
	}
	return err
}

// count notes a failure. It returns whether the server is given up, and whether nothing was
// said of the outage so far.
func (m *Monitor) count(err error) (final, news bool) {
	reached := m.Reached()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.since.IsZero() {
		m.since = m.Now()
	}
	if !reached || m.Now().Sub(m.since) >= outageLasts {
		return true, false
	}
	news = Dialing(err) && !m.told
	m.told = m.told || news
	return false, news
}

// UnreachableError is a request that got no answer, and for which none is to be expected
// soon.
type UnreachableError struct{ cause error }

func (e *UnreachableError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.cause }
