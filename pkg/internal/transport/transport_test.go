package transport

import (
	"errors"
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
