package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// The exit codes of every command.
const (
	ExitDone        = 0
	ExitFailed      = 1   // remote failure, API error
	ExitUsage       = 2   // wrong command line or input, or the cluster lacks what they name; nothing was changed
	ExitTimeout     = 124 // timed out, the job continues
	ExitInterrupted = 130 // Ctrl-C
)

// Error carries the exit code of a command, and what a program is told.
type Error struct {
	Code int
	// Err is nil if all was said that there is to say.
	Err error
	// Kind is "" for that of Err, or what the code means.
	Kind api.ErrorKind
	// Next is a command to type, or what else to do; "" for what Err says.
	Next string

	printed bool
}

func (e *Error) Error() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Code == ExitInterrupted:
		return "interrupted"
	case e.Code == ExitTimeout:
		return "timed out"
	default:
		return fmt.Sprintf("exit code %d", e.Code)
	}
}

// Printed reports whether people have read the error.
func (e *Error) Printed() bool { return e.Err == nil || e.printed }

// In returns the error after printing it on w in other words than its own, usually as several lines;
// "" if they were printed.
// If w takes events it prints nothing: the last event has the error.
func (e Error) In(w io.Writer, words string) error {
	if event.Of(w) == nil {
		if words != "" {
			fmt.Fprintln(w, strings.TrimRight(words, "\n"))
		}
		e.printed = true
	}
	return &e
}

func (e *Error) Unwrap() error { return e.Err }

// Usage gives an error in the command line or the input exit code 2.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(*Error)) {
		return err
	}
	return &Error{Code: ExitUsage, Err: err}
}

// Usagef returns a new error with exit code 2.
func Usagef(format string, args ...any) error {
	return &Error{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// OneOf checks that the value of a flag is valid. The error lists the valid values, and suggests
// the nearest.
func OneOf(flag, value string, valid []string) error {
	if slices.Contains(valid, value) {
		return nil
	}
	return Usagef("%s %q: %s", flag, value, expected(value, valid))
}

// expected returns the words that are valid instead of a value, and the one that may be meant.
func expected(value string, valid []string) string {
	text := "expected one of " + strings.Join(valid, ", ")
	if len(valid) == 1 {
		text = "expected " + valid[0]
	}
	if meant := human.DidYouMean(value, valid); meant != "" {
		text += "; " + meant
	}
	return text
}

// Exit returns an error that ends a command with a code and prints nothing; nil for
// ExitDone.
func Exit(code int) error {
	if code == ExitDone {
		return nil
	}
	return &Error{Code: code}
}

// CodeOf returns the exit code for an error.
func CodeOf(err error) int {
	var e *Error
	var missing interface{ Usage() bool } // if the cluster lacks what the command line names
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &e):
		return e.Code
	case errors.As(err, &missing) && missing.Usage():
		return ExitUsage
	default:
		return ExitFailed
	}
}
