package transport

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"
	"time"
)

// dated is a way to a server whose state a test sets.
type dated struct {
	blocked error
	date    string
}

func (r *dated) RoundTrip(*http.Request) (*http.Response, error) {
	if r.blocked != nil {
		return nil, r.blocked
	}
	answer := httptest.NewRecorder().Result()
	answer.Header.Set("Date", r.date)
	return answer, nil
}

func TestTransportLearnsFromAnswers(t *testing.T) {
	now := time.Date(2026, 4, 17, 15, 30, 0, 0, time.UTC)
	way := &dated{blocked: errors.New("down")}
	transport := New(way)
	transport.Now = func() time.Time { return now }
	try := func() {
		if answer, err := transport.RoundTrip(httptest.NewRequest(http.MethodGet, "https://api.example/x", nil)); err == nil {
			_ = answer.Body.Close()
		}
	}
	expect := func(reached bool, ahead time.Duration) {
		t.Helper()
		if got := transport.ServerTime(now); transport.Reached() != reached || !got.Equal(now.Add(ahead)) {
			t.Errorf("reached %v, and it is %v there", transport.Reached(), got)
		}
	}
	try()
	expect(false, 0)
	way.blocked, way.date = nil, now.Add(-3*time.Hour).Format(http.TimeFormat)
	try()
	expect(true, -3*time.Hour)
	way.date = "no date"
	try()
	expect(true, -3*time.Hour)
	way.blocked = errors.New("down")
	try()
	expect(true, -3*time.Hour)
}

// A server whose certificate isn't valid now is asked for its time.
func TestClockError(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	cert := &x509.Certificate{NotBefore: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}
	transport := New(&dated{blocked: x509.CertificateInvalidError{Cert: cert, Reason: x509.Expired}})
	ahead := 5 * time.Hour
	transport.Now = func() time.Time { return time.Now().Add(ahead) }
	_, err := transport.RoundTrip(httptest.NewRequest(http.MethodGet, server.URL+"/x", nil)) //nolint:bodyclose // there is none
	clock := AsClockError(fmt.Errorf("listing: %w", err), time.Time{})
	if clock == nil || clock.Here.Sub(clock.There).Round(time.Minute) != ahead {
		t.Fatalf("got %#v", err)
	}
	const valid = "valid from 2026-04-01T00:00:00Z to 2026-07-01T00:00:00Z, but this machine's clock shows 2026-08-01T12:00:00Z"
	clock.Here = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for there, want := range map[time.Time]string{
		{}:                        ": set the clock, or have the certificate renewed",
		clock.Here:                ", as the server's does: have the certificate renewed",
		clock.Here.Add(-ahead):    ", which is 5h0m0s ahead of the server's: set the clock",
		clock.Here.Add(time.Hour): ", which is 1h0m0s behind the server's: set the clock",
	} {
		clock.There = there
		if got := clock.validity(); got != valid+want {
			t.Errorf("got %q, want it to end in %q", got, want)
		}
	}
	if clock := AsClockError(errors.New("other"), time.Now()); clock != nil {
		t.Errorf("got %v of another error", clock)
	}
}

func TestDialing(t *testing.T) {
	for err, want := range map[error]bool{
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}:                                               true,
		&net.OpError{Op: "proxyconnect", Err: syscall.ECONNREFUSED}:                                       true,
		&url.Error{Op: "Get", URL: "http://x", Err: &net.DNSError{Err: "no such host"}}:                   true,
		&url.Error{Op: "Get", URL: "http://x", Err: &net.OpError{Op: "read", Err: errors.ErrUnsupported}}: false,
		errors.New("other"): false,
	} {
		if got := Dialing(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
