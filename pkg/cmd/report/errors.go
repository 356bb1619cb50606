package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
)

// OfJob returns err with the name of its job in front, unless it begins with that already.
func OfJob(id string, err error) error {
	if err == nil {
		return nil
	}
	name := "job " + id
	if text := err.Error(); strings.HasPrefix(text, name+":") || strings.HasPrefix(text, name+" ") {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Errors combines the errors of some jobs, which may be nil. For several jobs it prints each error
// as a line on w and returns exit code 1, because the other jobs were handled.
func Errors(w io.Writer, jobs int, errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	interrupted := func(err error) bool { return errors.Is(err, context.Canceled) }
	if len(errs) == 0 || jobs == 1 || slices.ContainsFunc(errs, interrupted) {
		return errors.Join(errs...)
	}
	PrintErrors(w, errs)
	return cli.Error{Code: cli.ExitFailed, Err: errors.Join(errs...), Kind: kindOf(errs)}.In(w, "")
}

// kindOf returns the kind that errors have in common, KindFailed if they have none.
func kindOf(errs []error) api.ErrorKind {
	kind := cli.KindOf(errs[0])
	if slices.ContainsFunc(errs, func(err error) bool { return cli.KindOf(err) != kind }) {
		return api.KindFailed
	}
	return kind
}

// PrintErrors prints each error that is not nil as a line, or sends a warning: only the last event is an
// error.
func PrintErrors(w io.Writer, errs []error) {
	for _, err := range errs {
		switch events := event.Of(w); {
		case err == nil:
		case events != nil:
			_ = events.Send(event.Warning{Message: err.Error()}) // the command's error follows
		default:
			fmt.Fprintf(w, "error: %v\n", err)
		}
	}
}
