package transport

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// road is a way to a server whose state a test sets.
type road struct {
	blocked error
	date    time.Time
}

func (r *road) RoundTrip(*http.Request) (*http.Response, error) {
	if r.blocked != nil {
		return nil, r.blocked
	}
	answer := httptest.NewRecorder().Result()
	answer.Header.Set("Date", r.date.UTC().Format(http.TimeFormat))
	return answer, nil
}

var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}

func TestOutages(t *testing.T) {
	now := time.Date(2026, 4, 17, 15, 30, 0, 0, time.UTC)
	way := &road{blocked: errRefused, date: now}
	var told []string
	w := &Transport{base: way, now: func() time.Time { return now }, tell: func(line string) { told = append(told, line) }}
	try := func() error {
		answer, err := w.RoundTrip(httptest.NewRequest(http.MethodGet, "https://api.example/x", nil))
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	final := func() bool {
		var e *unreachableError
		return errors.As(try(), &e)
	}
	if !final() {
		t.Error("a server that never answered is waited for")
	}
	if told != nil {
		t.Errorf("said %q before the error that says it", told)
	}
	way.blocked = nil
	if err := try(); err != nil {
		t.Fatal(err)
	}
	way.blocked = errRefused
	for range 2 {
		if final() {
			t.Error("a server that has answered is given up at once")
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "api.example can't be reached") || !strings.Contains(told[0], "trying again") {
		t.Errorf("said %q", told)
	}
	now = now.Add(outageLasts)
	if !final() {
		t.Error("a server that has gone is waited for without end")
	}
	way.blocked = nil
	if err := try(); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(told, "the API server answers again") {
		t.Errorf("said %q", told)
	}
	way.blocked = errRefused
	if final() {
		t.Error("an outage that is over counts for the next one")
	}
}

func TestTheTimeOfTheServer(t *testing.T) {
	now := time.Date(2026, 4, 17, 15, 30, 0, 0, time.UTC)
	w := &Transport{base: &road{date: now.Add(-3 * time.Hour)}, now: func() time.Time { return now }}
	if got := w.ServerTime(now); !got.Equal(now) {
		t.Errorf("before any answer it is %v", got)
	}
	answer, err := w.RoundTrip(httptest.NewRequest(http.MethodGet, "https://api.example/x", nil))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if got, want := w.ServerTime(now), now.Add(-3*time.Hour); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestASilentServerIsToldOnce(t *testing.T) {
	var told []string
	w := &Transport{now: time.Now, tell: func(line string) { told = append(told, line) }}
	w.slow("api.example")
	w.slow("api.example")
	if len(told) != 1 || !strings.Contains(told[0], "api.example does not answer yet") {
		t.Errorf("said %q", told)
	}
}

// A user who reads may have stopped the terminal.
func TestOthersGoOnWhileALineIsTold(t *testing.T) {
	way := &road{blocked: errRefused}
	telling, read := make(chan struct{}), make(chan struct{})
	w := &Transport{base: way, now: time.Now, reached: true, tell: func(string) {
		close(telling)
		<-read
	}}
	first, second := make(chan error), make(chan error)
	ask := func(done chan<- error) {
		_, err := w.RoundTrip(httptest.NewRequest(http.MethodGet, "https://api.example/x", nil)) //nolint:bodyclose // there is none
		done <- err
	}
	go ask(first)
	<-telling
	go ask(second)
	if err := <-second; !errors.Is(err, errRefused) {
		t.Errorf("got %v", err)
	}
	close(read)
	if err := <-first; !errors.Is(err, errRefused) {
		t.Errorf("got %v", err)
	}
}
