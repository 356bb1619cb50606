package gcp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/auth"
)

// script answers one request after another; the last answer is repeated.
type script struct {
	answers []func() (*http.Response, error)
	asked   []time.Time
	bodies  []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, time.Now())
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.bodies = append(s.bodies, string(body))
	}
	return s.answers[min(len(s.asked), len(s.answers))-1]()
}

func status(code int, header ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		w := httptest.NewRecorder()
		if len(header) == 2 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(code)
		return w.Result(), nil
	}
}

func fails(err error) func() (*http.Response, error) {
	return func() (*http.Response, error) { return nil, err }
}

// breaksOff is an answer whose body ends too early.
func breaksOff() (*http.Response, error) {
	answer, err := status(http.StatusOK)()
	answer.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), broken{}))
	return answer, err
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestRetries(t *testing.T) {
	type answers = []func() (*http.Response, error)
	date := time.Date(2000, 1, 1, 0, 0, 20, 0, time.UTC) // a bubble begins at midnight
	for name, tt := range map[string]struct {
		answers  answers
		reached  bool
		attempts int
		status   int // 0 for an error
		waits    time.Duration
	}{
		"a good answer":                  {answers{status(200)}, true, 1, 200, 0},
		"another good one":               {answers{status(404)}, true, 1, 404, 0},
		"too many requests":              {answers{status(429), status(200)}, true, 2, 200, 0},
		"unavailable for a while":        {answers{status(503), status(502), status(504), status(500), status(200)}, true, 5, 200, 3500 * time.Millisecond},
		"the server says when":           {answers{status(429, "Retry-After", "7"), status(200)}, true, 2, 200, 7 * time.Second},
		"the server says when, as date":  {answers{status(503, "Retry-After", date.Format(http.TimeFormat)), status(200)}, true, 2, 200, 20 * time.Second},
		"the server says much later":     {answers{status(503, "Retry-After", "600")}, true, 1, 503, 0},
		"for ever":                       {answers{status(503)}, true, attempts, 503, 31500 * time.Millisecond},
		"a lost connection":              {answers{fails(io.EOF), status(200)}, true, 2, 200, 0},
		"an answer that breaks off":      {answers{breaksOff, status(200)}, true, 2, 200, 0},
		"a wrong address":                {answers{fails(dialError)}, false, 1, 0, 0},
		"a server that restarts":         {answers{fails(dialError), status(200)}, true, 2, 200, 0},
		"refused credentials":            {answers{fails(&auth.Error{Response: &http.Response{StatusCode: 400}})}, true, 1, 0, 0},
		"credentials that can't be made": {answers{fails(&auth.Error{Response: &http.Response{StatusCode: 503}}), status(200)}, true, 2, 200, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: tt.answers}
				r := &retrier{base: s, reached: func() bool { return tt.reached }}
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/", strings.NewReader("body"))
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				answer, err := r.RoundTrip(request)
				if err == nil {
					defer answer.Body.Close()
				}
				if (err != nil) != (tt.status == 0) || err == nil && answer.StatusCode != tt.status {
					t.Errorf("got %v, %v", answer, err)
				}
				if len(s.asked) != tt.attempts || time.Since(begin) != tt.waits {
					t.Errorf("asked %d times within %v", len(s.asked), time.Since(begin))
				}
				for _, body := range s.bodies {
					if body != "body" {
						t.Errorf("sent %q", body)
					}
				}
			})
		})
	}
}

// The answer of the last attempt says more than that the time is over.
func TestRetriesEndWithTheContext(t *testing.T) {
	for name, tt := range map[string]struct {
		first    func() (*http.Response, error)
		attempts int
		status   int // 0 for an error
	}{
		"in a pause":             {status(503, "Retry-After", "60"), 1, 503},
		"in an attempt":          {status(500), 2, 500},
		"in an attempt, unheard": {fails(io.EOF), 2, 0},
		"in the very first":      {nil, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				s := &script{}
				if tt.first != nil {
					s.answers = append(s.answers, tt.first)
				}
				s.answers = append(s.answers, func() (*http.Response, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				})
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				answer, err := (&retrier{base: s}).RoundTrip(request)
				if (err != nil) != (tt.status == 0) || err == nil && answer.StatusCode != tt.status {
					t.Errorf("got %v, %v", answer, err)
				}
				if time.Since(begin) != time.Second || len(s.asked) != tt.attempts {
					t.Errorf("after %v and %d requests", time.Since(begin), len(s.asked))
				}
			})
		})
	}
}

// Ctrl-C while a server is busy is an interrupt, whatever the server said.
func TestRetriesEndWithAnInterrupt(t *testing.T) {
	for name, tt := range map[string]struct {
		answer      func() (*http.Response, error)
		interrupted bool
	}{
		"in a pause":         {status(503, "Retry-After", "60"), true},
		"between attempts":   {status(429), true},
		"a lost connection":  {fails(io.EOF), true},
		"with a true answer": {status(403), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(1200*time.Millisecond, cancel)
				defer cancel()
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
				if err != nil {
					t.Fatal(err)
				}
				r := &retrier{base: &script{answers: []func() (*http.Response, error){tt.answer}}, reached: func() bool { return true }}
				answer, err := r.RoundTrip(request)
				if errors.Is(err, context.Canceled) != tt.interrupted || (answer == nil) != tt.interrupted {
					t.Errorf("got %v, %v", answer, err)
				}
			})
		})
	}
}

// A body that can't be read again is sent once.
func TestOnlyRepeatableRequestsAreRepeated(t *testing.T) {
	s := &script{answers: []func() (*http.Response, error){status(503)}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/", io.NopCloser(strings.NewReader("body")))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&retrier{base: s}).RoundTrip(request)
	if err != nil || answer.StatusCode != 503 || len(s.asked) != 1 {
		t.Errorf("got %v, %v after %d requests", answer, err, len(s.asked))
	}
}

var dialError = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
