package gcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"
	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// Operation is something that a service has begun to do.
type Operation struct {
	// Command shows how it is.
	Command string

	state State
	look  func(ctx context.Context) (State, error)
}

// State is how far an operation is.
type State struct {
	Done bool
	// Text says what it is doing, "" if the service doesn't say.
	Text string
	// Err is why it has failed, once it is done: a googleapi.Error.
	Err error
}

// UnfinishedError says that waiting for an operation was given up. The operation continues.
type UnfinishedError struct {
	Operation Operation
	Cause     error
}

// Error says how to look at the operation.
func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("%v; the operation continues, see: %s", e.Cause, e.Operation.Command)
}

// Unwrap returns why waiting was given up.
func (e *UnfinishedError) Unwrap() error { return e.Cause }

// Next returns the command that shows the operation.
func (e *UnfinishedError) Next() string { return e.Operation.Command }

// Kind returns the kind of an error of a signal, "" for others.
func (e *UnfinishedError) Kind() api.ErrorKind {
	if errors.Is(e.Cause, context.Canceled) {
		return api.KindInterrupted
	}
	return ""
}

// Wait waits until an operation is done, and returns why it has failed. changed, which may be
// nil, is called with each new state. When ctx is over, or the service can't be asked any
// longer, the error is an UnfinishedError.
func (a *Access) Wait(ctx context.Context, o Operation, changed func(State)) error {
	last, pause := State{}, a.Interval
	for state := o.state; ; {
		if changed != nil && (state.Text != last.Text || state.Done) {
			changed(state)
		}
		if state.Done {
			return state.Err
		}
		last = state
		err := sleep(ctx, pause)
		if err == nil {
			state, err = o.look(ctx)
		}
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return &UnfinishedError{Operation: o, Cause: err}
		}
		pause = min(pause*5/4, 5*a.Interval)
	}
}

// NewOperation returns the operation that a service has begun, for Wait: state reads how far it is, and get asks
// for it. command shows it.
func NewOperation[O any](command string, begun O, state func(O) State, get func(context.Context) (O, error)) Operation {
	return Operation{Command: command, state: state(begun), look: func(ctx context.Context) (State, error) {
		now, err := get(ctx)
		if err != nil {
			return State{}, err
		}
		return state(now), nil
	}}
}

// ContainerOperation is an operation of GKE in a zone or region.
func ContainerOperation(s *container.Service, project, location string, o *container.Operation) Operation {
	name := fmt.Sprintf("projects/%s/locations/%s/operations/%s", project, location, o.Name)
	command := fmt.Sprintf("gcloud container operations describe %s --location=%s --project=%s", o.Name, location, project)
	return NewOperation(command, o, containerState, func(ctx context.Context) (*container.Operation, error) {
		return s.Projects.Locations.Operations.Get(name).Context(ctx).Do()
	})
}

func containerState(o *container.Operation) State {
	state := State{Done: o.Status == "DONE", Text: containerProgress(o)}
	switch {
	case o.Error != nil && o.Error.Code != 0:
		state.Err = failure(codeOf(o.Error.Code), o.Error.Message)
	case state.Done && o.StatusMessage != "": // what servers sent before there was an error
		state.Err = failure(http.StatusInternalServerError, o.StatusMessage)
	}
	return state
}

// containerProgress returns the stages that are under way, and how many of how many nodes there
// are.
func containerProgress(o *container.Operation) string {
	if o.Progress == nil {
		return strings.ToLower(o.Status)
	}
	var parts []string
	for _, stage := range o.Progress.Stages {
		if stage.Status == "RUNNING" && stage.Name != "" {
			parts = append(parts, stage.Name)
		}
	}
	counts := map[string]int64{}
	for _, m := range o.Progress.Metrics {
		counts[m.Name] = m.IntValue
	}
	if total := counts["NODES_TOTAL"]; total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d nodes", max(counts["NODES_DONE"], counts["NODES_COMPLETE"]), total))
	}
	return cmp.Or(strings.Join(parts, ", "), strings.ToLower(o.Status))
}

// ComputeOperation is an operation of Compute Engine: global, or in a region.
func ComputeOperation(s *compute.Service, project string, o *compute.Operation) Operation {
	region := path.Base(o.Region)
	scope := "--global"
	get := func(ctx context.Context) (*compute.Operation, error) {
		return s.GlobalOperations.Get(project, o.Name).Context(ctx).Do()
	}
	if o.Region != "" {
		scope = "--region=" + region
		get = func(ctx context.Context) (*compute.Operation, error) {
			return s.RegionOperations.Get(project, region, o.Name).Context(ctx).Do()
		}
	}
	return NewOperation(fmt.Sprintf("gcloud compute operations describe %s %s --project=%s", o.Name, scope, project), o, computeState, get)
}

func computeState(o *compute.Operation) State {
	state := State{Done: o.Status == "DONE", Text: strings.ToLower(o.Status)}
	if o.Progress > 0 && !state.Done {
		state.Text = fmt.Sprintf("%d%%", o.Progress)
	}
	if o.Error == nil || len(o.Error.Errors) == 0 {
		return state
	}
	var texts []string
	for _, e := range o.Error.Errors {
		texts = append(texts, e.Message)
	}
	first := o.Error.Errors[0]
	answer := failure(int(o.HttpErrorStatusCode), strings.Join(texts, "; "))
	answer.Errors = []googleapi.ErrorItem{{Reason: first.Code, Message: first.Message}}
	state.Err = answer
	return state
}

// failure is why an operation has failed, in the form of an answer of its service.
func failure(code int, message string) *googleapi.Error {
	return &googleapi.Error{Code: code, Message: message}
}

func codeOf(rpc int64) int {
	switch rpc {
	case 3, 9, 11:
		return http.StatusBadRequest
	case 5:
		return http.StatusNotFound
	case 6, 10:
		return http.StatusConflict
	case 7:
		return http.StatusForbidden
	case 8:
		return http.StatusTooManyRequests
	case 14:
		return http.StatusServiceUnavailable
	case 16:
		return http.StatusUnauthorized
	}
	return http.StatusInternalServerError
}

func explained(kind api.ErrorKind, next string, cause error, format string, args ...any) *transport.Explained {
	return &transport.Explained{Text: fmt.Sprintf(format, args...), Cause: cause, Of: kind, Do: next}
}

// LongRunning returns how far an operation is as all services but GKE and Compute Engine have it
// (google.longrunning.Operation). code and message are why it has failed, a code of google.rpc.Code; 0 if it hasn't.
func LongRunning(done bool, code int64, message string) State {
	s := State{Done: done}
	if code != 0 {
		s.Err = failure(codeOf(code), message)
	}
	return s
}
