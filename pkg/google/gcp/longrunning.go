package gcp

import (
	"context"
	"errors"

	"google.golang.org/api/googleapi"
)

// LongRunning is an operation as all services but GKE and Compute Engine have it
// (google.longrunning.Operation).
type LongRunning struct {
	Name string
	Done bool
	// Code and Message are why it has failed, a code of google.rpc.Code; 0 if it hasn't.
	Code    int64
	Message string
}

// Operation returns the operation for Wait. get asks for it by its name; command shows it.
func (l LongRunning) Operation(command string, get func(ctx context.Context, name string) (LongRunning, error)) Operation {
	return Operation{
		Command: command, state: l.state(),
		look: func(ctx context.Context) (State, error) {
			now, err := get(ctx, l.Name)
			if err != nil {
				return State{}, err
			}
			return now.state(), nil
		},
	}
}

func (l LongRunning) state() State {
	s := State{Done: l.Done}
	if l.Code != 0 {
		s.Err = failure(codeOf(l.Code), l.Message)
	}
	return s
}

// MessageIn returns what a service said, "" if the error is no answer of one.
func MessageIn(err error) string {
	answer, isAnswer := answerIn(err)
	if !isAnswer {
		return ""
	}
	if answer.Message != "" {
		return answer.Message
	}
	return detailOf(answer).Message
}

func answerIn(err error) (*googleapi.Error, bool) {
	var answer *googleapi.Error
	return answer, errors.As(err, &answer)
}
