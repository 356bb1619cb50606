// Package transport is the way to a server: whether it was ever reached, what time it
// is there, and why a request got no answer.
package transport

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Transport is a round tripper that learns from every answer.
type Transport struct {
	// Base makes the requests.
	Base http.RoundTripper
	// Proxy is what the way leads through, as in http.Transport.
	Proxy func(*http.Request) (*url.URL, error)
	// Now is this machine's clock.
	Now func() time.Time

	mu      sync.Mutex
	reached bool
	ahead   time.Duration // from our clock to the server's
}

// New makes a Transport with the proxy of the environment.
func New(base http.RoundTripper) *Transport {
	return &Transport{Base: base, Proxy: http.ProxyFromEnvironment, Now: time.Now}
}

// RoundTrip implements http.RoundTripper. An error about a certificate that is not valid
// at this time is a ClockError.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Base.RoundTrip(r)
	if err != nil {
		if clock := AsClockError(err, t.Now()); clock != nil && r.Context().Err() == nil {
			clock.There, _ = t.dateOf(r.Context(), r.URL.Host)
			return nil, clock
		}
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

// Reached reports whether the server has ever answered. One that never did is a wrong
// address or no network; one that did will be back.
func (t *Transport) Reached() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reached
}

// ServerTime returns the time by the server's clock when it is here by ours; here itself
// before the server has answered. It is off by a second at most, plus an answer's way.
func (t *Transport) ServerTime(here time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return here.Add(t.ahead)
}

// dateWithin bounds asking for the time, which an error message waits for.
const dateWithin = 3 * time.Second

// dateOf asks a server that can't be trusted for its time. It sends nothing else, and only
// a message uses the answer.
func (t *Transport) dateOf(ctx context.Context, host string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, dateWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+host+"/", nil) //nolint:gosec // the user names the host
	if err != nil {
		return time.Time{}, err
	}
	untrusting := &http.Transport{
		Proxy:             t.Proxy,
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // sends no credentials
	}
	answer, err := untrusting.RoundTrip(request)
	if err != nil {
		return time.Time{}, err
	}
	defer answer.Body.Close()
	return http.ParseTime(answer.Header.Get("Date"))
}
