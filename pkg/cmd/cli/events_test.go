package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
)

func TestWantsEvents(t *testing.T) {
	for line, want := range map[string]bool{
		"":                               false,
		"--events json":                  true,
		"--events=json":                  true,
		"train.py --local --events json": true,
		"--events text":                  false,
		"--events xml":                   false,
		"--events json --events xml":     true,
		"--events json --events=text":    false,
		"--events text --events json":    true,
		"--events":                       false,
		"train.py -- --events json":      false,
		"--events-file json":             false,
	} {
		if got := wantsEvents(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// told is an error that knows what a program wants to know.
type told struct{}

func (told) Error() string       { return "it is gone" }
func (told) Kind() api.ErrorKind { return api.KindNotFound }
func (told) Next() string        { return "look elsewhere" }

func TestErrorEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"any error":             {errors.New("a"), `"code":1,"kind":"failed","message":"a","next":null`},
		"a mistake":             {Usagef("a"), `"code":2,"kind":"usage","message":"a","next":null`},
		"a kind of its own":     {fmt.Errorf("finding: %w", told{}), `"code":1,"kind":"not_found","message":"finding: it is gone","next":"look elsewhere"`},
		"a mistake of a kind":   {Usage(told{}), `"code":2,"kind":"not_found","message":"it is gone","next":"look elsewhere"`},
		"a kind for an error":   {&Error{Code: 1, Err: told{}, Kind: api.KindExists, Next: "n"}, `"code":1,"kind":"exists","message":"it is gone","next":"n"`},
		"a job's exit code":     {&Error{Code: 2, Err: errors.New("job a failed"), Kind: api.KindJobFailed}, `"code":2,"kind":"job_failed","message":"job a failed","next":null`},
		"an interrupt":          {Exit(ExitInterrupted), `"code":130,"kind":"interrupted","message":"interrupted","next":null`},
		"a timeout":             {Exit(ExitTimeout), `"code":124,"kind":"timeout","message":"timed out","next":null`},
		"what people have read": {Error{Code: 1, Err: errors.New("a")}.In(&bytes.Buffer{}, "b"), `"code":1,"kind":"failed","message":"a","next":null`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			report(event.NewWriter(&out, time.Now), tt.err)
			if got := out.String(); !strings.HasPrefix(got, `{"event":"error","time":"`) || !strings.HasSuffix(got, `,`+tt.want+"}\n") {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// In prints for people in other words, and leaves the error to the last event for programs.
func TestErrorInOtherWords(t *testing.T) {
	e := Error{Code: 7, Err: errors.New("it failed")}
	var out, events bytes.Buffer
	err := e.In(&out, "it failed\n  because\nnext: x\n")
	report(&out, err)
	if got := out.String(); got != "it failed\n  because\nnext: x\n" || CodeOf(err) != 7 {
		t.Errorf("people read %q, exit code %d", got, CodeOf(err))
	}
	if err := e.In(event.NewWriter(&events, time.Now), "text"); events.Len() > 0 || CodeOf(err) != 7 {
		t.Errorf("programs get %s, exit code %d", &events, CodeOf(err))
	}
}

// What anybody writes to standard error becomes events, which the error follows.
func TestDivert(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	defer func() { os.Stderr = before }()
	os.Stderr = w
	events, settle := divert()
	fmt.Fprintln(os.Stderr, "a credential plugin speaks")
	settle()
	report(events, errors.New("last"))
	_ = w.Close()
	var got bytes.Buffer
	_, _ = got.ReadFrom(r)
	lines := strings.SplitAfter(got.String(), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], `"event":"note"`) || !strings.Contains(lines[0], "plugin speaks") || !strings.Contains(lines[1], `"event":"error"`) {
		t.Errorf("got %s", &got)
	}
	if os.Stderr != w {
		t.Error("standard error was not given back")
	}
}

func TestNoQuestionsForPrograms(t *testing.T) {
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: &out, Out: &out, ErrOut: &out}
	if got := CannotAsk(streams); got != "stdin is not a terminal" {
		t.Errorf("text: got %q", got)
	}
	streams.ErrOut = event.NewWriter(&out, time.Now)
	if got := CannotAsk(streams); got != "--events json asks no questions" {
		t.Errorf("events: got %q", got)
	}
}

// A command without sections has the flag, too.
func TestEveryCommandHasEvents(t *testing.T) {
	root := &cobra.Command{Use: "x", RunE: RunE(func(context.Context, []string) error { return nil })}
	var said bytes.Buffer
	if code := Run(t.Context(), root, []string{"--events", "json"}, genericiooptions.IOStreams{In: &said, Out: &said, ErrOut: &said}); code != 0 {
		t.Errorf("exit code %d: %s", code, &said)
	}
}
