// Package transport makes requests to a server. It knows whether the server was ever
// reached, what time its clock shows, and why a request got no answer.
package transport

import (
	"net/http"
	"sync"
	"time"
)

// Transport is a round tripper that learns from every answer.
type Transport struct {
	// Base makes the requests.
	Base http.RoundTripper
	// Now is this machine's clock.
	Now func() time.Time

	mu      sync.Mutex
	reached bool
	ahead   time.Duration // from our clock to the server's
}

// New returns a Transport over base.
func New(base http.RoundTripper) *Transport { return &Transport{Base: base, Now: time.Now} }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reached = true
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		t.ahead = date.Sub(t.Now())
	}
	return answer, nil
}

// Reached reports whether the server has ever answered. If it never has, the address is
// wrong or there is no network; if it has, it will be back.
func (t *Transport) Reached() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reached
}

// ServerTime returns the server's time that corresponds to here, our time; here itself
// before the server has answered. It is off by at most a second plus an answer's travel
// time.
func (t *Transport) ServerTime(here time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return here.Add(t.ahead)
}
