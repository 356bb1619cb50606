package gcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"cloud.google.com/go/auth"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

const (
	// attempts limits how often a request is made.
	attempts = 8
	// retryWithin limits how long a request is made again.
	retryWithin = 2 * time.Minute
)

// retrier makes requests again that a busy or restarting server has not answered, or whose
// answer was lost. That is safe for every method, since each change that this program makes
// can be repeated: a second "create" finds what the first has made. It reads whole answers,
// so that one that breaks off is asked for again, too.
type retrier struct {
	base    http.RoundTripper
	reached func() bool // whether a server has ever answered
}

func (r *retrier) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := r.repeat(request)
	ended := request.Context().Err()
	if _, passing := r.passing(answer, err); !passing || !errors.Is(ended, context.Canceled) || errors.Is(err, ended) {
		return answer, err
	}
	// What a busy server said last is not why an interrupted request was given up.
	if err == nil {
		return nil, ended
	}
	return nil, fmt.Errorf("%w: %w", ended, err)
}

func (r *retrier) repeat(request *http.Request) (*http.Response, error) {
	ctx, begin := request.Context(), time.Now()
	timer := backoff.Timer{First: 500 * time.Millisecond, Longest: 30 * time.Second}
	var last *http.Response // of the attempt before
	for n := 1; ; n++ {
		once, err := again(request)
		if err != nil {
			return nil, err
		}
		answer, err := whole(r.base.RoundTrip(once))
		if err != nil && last != nil && ctx.Err() != nil {
			return last, nil // says more than that the time is over
		}
		last = answer
		pause, passing := r.passing(answer, err)
		repeatable := request.Body == nil || request.GetBody != nil
		if !passing || !repeatable || n == attempts || ctx.Err() != nil || time.Since(begin)+pause > retryWithin {
			return answer, err
		}
		if sleep(ctx, pause) != nil || timer.Sleep(ctx) != nil {
			return answer, err
		}
	}
}

// again returns a request that can be sent after its body was read.
func again(request *http.Request) (*http.Request, error) {
	once := request.Clone(request.Context())
	once.Header.Set("User-Agent", userAgent())
	if request.GetBody == nil {
		return once, nil
	}
	body, err := request.GetBody()
	once.Body = body
	return once, err
}

func whole(answer *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

// passing reports whether a failure may pass, and how long the server asks to wait.
func (r *retrier) passing(answer *http.Response, err error) (pause time.Duration, passing bool) {
	if err != nil {
		return 0, r.lost(err)
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return retryAfter(answer.Header.Get("Retry-After"), time.Now()), true
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return 0, true
	}
	return 0, false
}

// lost reports whether another attempt may get an answer after one that got none.
func (r *retrier) lost(err error) bool {
	var token *auth.Error
	switch {
	case errors.As(err, &token):
		return token.Temporary()
	case transport.Untrusted(err):
		return false
	case transport.Dialing(err):
		return r.reached() // else the address is wrong or there is no network
	}
	return true
}

// retryAfter reads the header, in seconds or as a date; 0 if there is none.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// sleep waits, and returns early with the error of ctx if that is done.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
