package gcp

import (
	"cmp"
	"errors"

	"google.golang.org/api/googleapi"
)

// LongRunning returns how far an operation is as all services but GKE and Compute Engine have it
// (google.longrunning.Operation). code and message are why it has failed, a code of google.rpc.Code; 0 if it hasn't.
func LongRunning(done bool, code int64, message string) State {
	s := State{Done: done}
	if code != 0 {
		s.Err = failure(codeOf(code), message)
	}
	return s
}

// MessageIn returns what a service said, "" if the error is no answer of one.
func MessageIn(err error) string {
	answer, isAnswer := answerIn(err)
	if !isAnswer {
		return ""
	}
	return cmp.Or(answer.Message, detailOf(answer).Message)
}

func answerIn(err error) (*googleapi.Error, bool) { return errors.AsType[*googleapi.Error](err) }
