// Package transport makes requests to a server. It knows whether the server was ever
// reached, what time its clock shows, and why a request got no answer.
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
	// Proxy returns the proxy for a request, as in http.Transport.
	Proxy func(*http.Request) (*url.URL, error)
	// Now is this machine's clock.
	Now func() time.Time

	mu      sync.Mutex
	reached bool
	ahead   time.Duration // from our clock to the server's
}

// New returns a Transport with the proxy of the environment.
func New(base http.RoundTripper) *Transport {
	return &Transport{Base: base, Proxy: http.ProxyFromEnvironment, Now: time.Now}
}

// RoundTrip implements http.RoundTripper. For a certificate that is not valid at this
// time, the error is a ClockError.
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

// dateWithin limits the request for the time, which an error message waits for.
const dateWithin = 3 * time.Second

// dateOf requests the time from a server that can't be trusted. It sends nothing else,
// and the answer is only used in a message.
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
