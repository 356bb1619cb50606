package transport

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilenceLimit: a server is silent at the path that names the moment.
func TestSilenceLimit(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/before":
			<-ended
		case "/within":
			_, _ = w.Write([]byte("a"))
			_ = http.NewResponseController(w).Flush()
			<-ended
		default:
			_, _ = w.Write([]byte("answer"))
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(ended) })
	ask := func(ctx context.Context, path, body string, within time.Duration) (string, error) {
		client := http.Client{Transport: SilenceLimit{http.DefaultTransport, within}}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		answer, err := client.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return string(text), err
	}
	for _, path := range []string{"/before", "/within"} {
		_, err := ask(t.Context(), path, "", 50*time.Millisecond)
		var silent *SilenceError
		if !errors.As(err, &silent) || !strings.HasSuffix(server.URL, silent.Host) {
			t.Errorf("%s: got %v", path, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := ask(ctx, path, "", time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: the caller's context ends with %v", path, err)
		}
	}
	for body, within := range map[string]time.Duration{"": time.Hour, "body": time.Nanosecond} {
		if text, err := ask(t.Context(), "/", body, within); text != "answer" || err != nil {
			t.Errorf("with body %q: got %q, %v", body, text, err)
		}
	}
}

// TestTimeBetweenReadsIsFree: a slow reader is not the server's silence.
func TestTimeBetweenReadsIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const within = time.Second
		r := httptest.NewRequest(http.MethodGet, "http://server.example", nil)
		answer, err := SilenceLimit{answersOnce("answer"), within}.RoundTrip(r.WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		<-time.After(2 * within)
		if text, err := io.ReadAll(answer.Body); string(text) != "answer" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// answersOnce is a round tripper whose answer can be read as long as the request's context lasts.
type answersOnce string

// RoundTrip implements http.RoundTripper.
func (a answersOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{Body: io.NopCloser(io.MultiReader(untilOver{r.Context()}, strings.NewReader(string(a))))}, nil
}

// untilOver is an empty reader that fails once its context has ended.
type untilOver struct{ context.Context }

// Read implements io.Reader.
func (u untilOver) Read([]byte) (int, error) { return 0, cmp.Or(u.Err(), io.EOF) }
