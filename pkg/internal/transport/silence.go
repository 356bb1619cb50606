package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// SilenceLimit is a round tripper that gives up on a server that sends nothing for a while, before its answer
// or within it. Requests with a body are not limited: they may take long to send.
type SilenceLimit struct {
	// Base makes the requests.
	Base http.RoundTripper
	// Within is how long the server may be silent.
	Within time.Duration
}

// RoundTrip implements http.RoundTripper. The error, also of reading the body, is a SilenceError if the server
// was silent for too long.
func (s SilenceLimit) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		return s.Base.RoundTrip(r)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	silent := &SilenceError{r.URL.Host, s.Within}
	timer := time.AfterFunc(s.Within, func() { cancel(silent) })
	answer, err := s.Base.RoundTrip(r.WithContext(ctx))
	timer.Stop()
	if err != nil {
		if errors.Is(context.Cause(ctx), silent) {
			err = silent
		}
		cancel(nil)
		return nil, err
	}
	answer.Body = &limitedBody{answer.Body, ctx, cancel, timer, s.Within}
	return answer, nil
}

// limitedBody is the body of an answer. Time counts only while something is read.
type limitedBody struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request, which Close ends
	cancel context.CancelCauseFunc
	timer  *time.Timer
	within time.Duration
}

func (b *limitedBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.within)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	var silent *SilenceError
	if err != nil && errors.As(context.Cause(b.ctx), &silent) {
		err = silent
	}
	return n, err
}

func (b *limitedBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// SilenceError says that a server sent nothing for a while.
type SilenceError struct {
	Host string
	For  time.Duration
}

// Error names the server and the time.
func (e *SilenceError) Error() string {
	return fmt.Sprintf("%s sent nothing for %s", e.Host, e.For)
}

// Timeout reports that the server has had its time, as in net.Error.
func (*SilenceError) Timeout() bool { return true }
