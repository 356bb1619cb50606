package store

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"
	"time"

	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// answering is a server that answers everything with nothing.
type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	return httptest.NewRecorder().Result(), nil
}

func TestTemporary(t *testing.T) {
	dial := &url.Error{Op: "Get", URL: "http://x", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	noSuchHost := &url.Error{Op: "Get", URL: "http://x", Err: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}}
	for name, tt := range map[string]struct {
		err             error
		before, reached bool // what to do before, and after, a first answer
	}{
		"overloaded":                {&googleapi.Error{Code: 503}, true, true},
		"too many requests":         {&googleapi.Error{Code: 429}, true, true},
		"a reset":                   {&url.Error{Op: "Get", URL: "http://x", Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, true, true},
		"an answer that was cut":    {io.ErrUnexpectedEOF, true, true},
		"refused":                   {dial, false, true},
		"no network":                {noSuchHost, false, true},
		"a proxy that is away":      {&net.OpError{Op: "proxyconnect", Err: syscall.ECONNREFUSED}, false, true},
		"forbidden":                 {&googleapi.Error{Code: 403}, false, false},
		"precondition":              {&googleapi.Error{Code: 412}, false, false},
		"the source's own error":    {errors.New("disk on fire"), false, false},
		"the user's change of mind": {context.Canceled, false, false},
	} {
		p := newRetryPolicy(transport.New(answering{}))
		if got := p.retry(tt.err); got != tt.before {
			t.Errorf("%s, before any answer: retry %v, want %v", name, got, tt.before)
		}
		if answer, err := p.transport.RoundTrip(httptest.NewRequest(http.MethodGet, "https://x/y", nil)); err != nil || answer.Body.Close() != nil {
			t.Fatal(err)
		}
		if got := p.retry(tt.err); got != tt.reached {
			t.Errorf("%s, after an answer: retry %v, want %v", name, got, tt.reached)
		}
	}
}

func TestPatienceEnds(t *testing.T) {
	now := time.Now()
	p := &retryPolicy{transport: transport.New(nil), now: func() time.Time { return now }}
	down := &googleapi.Error{Code: 503}
	for _, step := range []struct {
		name  string
		after time.Duration
		reset bool
		want  bool
	}{
		{name: "the first failure", want: true},
		{name: "one within the minute", after: 59 * time.Second, want: true},
		{name: "one after it", after: time.Second, want: false},
		{name: "one after something has succeeded", reset: true, want: true},
		{name: "one of a new minute", after: 59 * time.Second, want: true},
	} {
		now = now.Add(step.after)
		if step.reset {
			p.reset()
		}
		if got := p.retry(down); got != step.want {
			t.Errorf("%s: retry %v, want %v", step.name, got, step.want)
		}
	}
}
