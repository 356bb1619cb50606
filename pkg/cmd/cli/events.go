package cli

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
)

// eventsFlag is the flag with which standard error has events for programs.
const eventsFlag = "events"

const (
	eventsText = "text"
	eventsJSON = "json"
)

// eventsSection has --events, which every command has. What the flag sets is for help only: events read the command line before
// it is parsed.
func eventsSection() Section {
	s := NewSection("For programs")
	format := eventsText
	read := func(s string) (string, error) {
		if s != eventsText && s != eventsJSON {
			return "", errors.New("expected text or json")
		}
		return s, nil
	}
	s.Flags.Var(flagValue[string]{&format, "format", read, func(s string) string { return s }}, eventsFlag, "Write standard error as `FORMAT`: text, or json for one JSON object per line (see docs/automation.md).")
	s.Offer(eventsFlag, eventsText, eventsJSON)
	return s
}

// wantsEvents reports whether a command line asks for events. It may be a wrong one, for which
// there is an event, too.
func wantsEvents(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	format := ""
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if name != "--"+eventsFlag {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if value == eventsText || value == eventsJSON {
			format = value
		}
	}
	return format == eventsJSON
}

// strayTime is how long the end of a command waits for a program that it started and that still
// has its standard error.
const strayTime = 200 * time.Millisecond

// divert returns a writer of events on standard error. What others write there, such as programs
// that get credentials, becomes events, too, until settle is called.
func divert() (events *event.Writer, settle func()) {
	real := os.Stderr
	events = event.NewWriter(real, time.Now)
	r, w, err := os.Pipe()
	if err != nil {
		return events, func() {}
	}
	os.Stderr = w
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(events, r)
	}()
	return events, func() {
		os.Stderr = real
		_ = w.Close()
		select {
		case <-done:
		case <-time.After(strayTime):
		}
	}
}

// CannotAsk says why no one can be asked whether to do something, "" if someone can.
func CannotAsk(streams genericiooptions.IOStreams) string {
	switch {
	case event.Of(streams.ErrOut) != nil:
		return "--events json asks no questions"
	case !term.IsTerminal(streams.In):
		return "stdin is not a terminal"
	}
	return ""
}

func errorEvent(err error) event.Error {
	e := event.Error{Code: CodeOf(err), Kind: KindOf(err), Message: strings.TrimRight(explained(err).Error(), "\n")}
	if next := nextOf(err); next != "" {
		e.Next = &next
	}
	return e
}

// KindOf returns the kind of an error: its own, that of an error that it wraps, or what its exit code
// means.
func KindOf(err error) api.ErrorKind {
	if own, ok := errors.AsType[*Error](err); ok && own.Kind != "" {
		return own.Kind
	}
	for of := err; of != nil; {
		var known interface {
			error
			Kind() api.ErrorKind
		}
		if !errors.As(of, &known) {
			break
		}
		if kind := known.Kind(); kind != "" {
			return kind
		}
		of = errors.Unwrap(known)
	}
	switch CodeOf(err) {
	case ExitUsage:
		return api.KindUsage
	case ExitTimeout:
		return api.KindTimeout
	case ExitInterrupted:
		return api.KindInterrupted
	default:
		return api.KindFailed
	}
}

// nextOf returns what an error says to do next, "" if it doesn't say that apart.
func nextOf(err error) string {
	var known interface{ Next() string }
	next := ""
	if own, ok := errors.AsType[*Error](err); ok {
		next = own.Next
	}
	if errors.As(err, &known) {
		next = cmp.Or(next, known.Next())
	}
	return next
}
