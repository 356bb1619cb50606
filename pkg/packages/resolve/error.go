package resolve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// NotHereError says that nothing on this machine can resolve for a target.
type NotHereError struct {
	Target wheel.Target
	Why    string
}

// Error says what would help.
func (e *NotHereError) Error() string {
	return fmt.Sprintf("the requirements can't be resolved here for %s: %s: install uv, or lock the project", e.Target, e.Why)
}

// Explain adds why this machine doesn't resolve to the error of a pod that can't either. A nil error of either kind adds nothing.
func (e *NotHereError) Explain(err error) error {
	var mistake *MistakeError
	if e == nil || e.Why == "" || !errors.As(err, &mistake) {
		return err
	}
	return &MistakeError{fmt.Errorf("%w (not resolved here: %s)", mistake.Err, e.Why)}
}

// MistakeError says that the project's files are wrong, or wrong for the job's Python.
type MistakeError struct{ Err error }

// Error returns what is wrong.
func (e *MistakeError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *MistakeError) Unwrap() error { return e.Err }

// NeedsBuildError says that packages have to be built, which is not done on this machine.
type NeedsBuildError struct{ Packages []deps.Package }

// Error names the packages, and what each has to be built from.
func (e *NeedsBuildError) Error() string {
	var all []string
	for _, p := range e.Packages {
		text := strings.TrimSpace(p.Name + " " + p.Version)
		if p.Source != "" {
			text = strings.TrimSpace(text + " from " + deps.Hidden(p.Source))
		}
		if p.Why != nil {
			text += " (" + deps.Hidden(p.Why.Error()) + ")"
		}
		all = append(all, text)
	}
	return "packages have to be built, because they have no wheel that fits: " + strings.Join(all, ", ")
}

// ConflictError says that requirements conflict.
type ConflictError struct {
	By Method
	// Lines are the requirements that the resolver names.
	Lines []deps.Line
	// Output are its last lines, without credentials.
	Output string
}

// Error names the requirements with their places, and what the resolver says.
func (e *ConflictError) Error() string {
	var all []string
	for _, l := range e.Lines {
		all = append(all, fmt.Sprintf("%s (%s)", deps.Hidden(l.Text), l.Place()))
	}
	whose, advice := "the requirements", "change a version"
	if len(all) > 0 {
		whose = strings.Join(all, ", ")
	}
	if slices.ContainsFunc(e.Lines, func(l deps.Line) bool { return l.File == runtimePlace }) {
		advice += ", or leave out the runtime with --runtime none"
	}
	return fmt.Sprintf("%s conflict with each other: %s; %s says:\n%s", whose, advice, e.By, e.Output)
}

// FailedError says that a resolver failed.
type FailedError struct {
	By Method
	// Output are its last lines, without credentials.
	Output string
	err    error
}

// Error has the resolver's last lines.
func (e *FailedError) Error() string {
	if e.Output == "" {
		return fmt.Sprintf("%s could not resolve the requirements: %v", e.By, e.err)
	}
	return fmt.Sprintf("%s could not resolve the requirements (%v):\n%s", e.By, e.err, e.Output)
}

// Unwrap returns how the program ended.
func (e *FailedError) Unwrap() error { return e.err }
