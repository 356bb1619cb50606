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

var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}

func TestOutages(t *testing.T) {
	now := time.Date(2026, 4, 17, 15, 30, 0, 0, time.UTC)
	way := &dated{blocked: errRefused}
	var told []string
	w := NewMonitor(New(way), "the API server", func(line string) { told = append(told, line) })
	w.Now = func() time.Time { return now }
	try := func() error {
		answer, err := w.RoundTrip(httptest.NewRequest(http.MethodGet, "https://api.example/x", nil))
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	final := func() bool {
		var e *UnreachableError
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
	now = now.Add(OutageLasts)
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

func TestASilentServerIsToldOnce(t *testing.T) {
	var told []string
	w := NewMonitor(New(nil), "the API server", func(line string) { told = append(told, line) })
	w.slow("api.example")
	w.slow("api.example")
	if len(told) != 1 || !strings.Contains(told[0], "api.example does not answer yet") {
		t.Errorf("said %q", told)
	}
}

// A user who reads may have stopped the terminal.
func TestOthersGoOnWhileALineIsTold(t *testing.T) {
	way := &dated{blocked: errRefused}
	telling, read := make(chan struct{}), make(chan struct{})
	w := NewMonitor(New(way), "the API server", func(string) {
		close(telling)
		<-read
	})
	w.reached = true
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
