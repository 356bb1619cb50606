package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
)

// OfJob returns an error that names its job: err itself where its text begins so already, nil
// for nil.
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

// Errors makes one error of those of some jobs, of which each may be nil. Of several jobs
// each error has its own line on w, and the exit code is 1: the others were dealt with.
func Errors(w io.Writer, jobs int, errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	interrupted := func(err error) bool { return errors.Is(err, context.Canceled) }
	if len(errs) == 0 || jobs == 1 || slices.ContainsFunc(errs, interrupted) {
		return errors.Join(errs...)
	}
	PrintErrors(w, errs)
	return process.Exit(process.ExitFailed)
}

// PrintErrors prints errors, of which each may be nil, one on each line.
func PrintErrors(w io.Writer, errs []error) {
	for _, err := range errs {
		if err != nil {
			fmt.Fprintf(w, "error: %v\n", err)
		}
	}
}
