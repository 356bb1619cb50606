package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// The error of one of several jobs begins with its ID, once.
func TestErrorsNameTheirJobOnce(t *testing.T) {
	for text, want := range map[string]string{
		"the bucket is locked":            "job a1: the bucket is locked",
		"job a1: there is no Job":         "job a1: there is no Job",
		"job a1 was asked to end":         "job a1 was asked to end",
		"job a12: there is another Job":   "job a1: job a12: there is another Job",
		"list: job a1: there is no store": "job a1: list: job a1: there is no store",
	} {
		if got := OfJob("a1", errors.New(text)).Error(); got != want {
			t.Errorf("of %q: got %q, want %q", text, got, want)
		}
	}
	if err := OfJob("a1", nil); err != nil {
		t.Errorf("of none: got %v", err)
	}
}

// For programs, the errors of some jobs are warnings, however many lines they have, and the last event has
// all of them.
func TestErrorsOfSeveralJobsAsEvents(t *testing.T) {
	var out bytes.Buffer
	w := event.NewWriter(&out, time.Now)
	missing := &job.IDError{}
	err := Errors(w, 2, []error{errors.New("a\nb"), nil, missing})
	if n := strings.Count(out.String(), `"event":"warning"`); n != 2 || !strings.Contains(out.String(), `"message":"a\nb"`) {
		t.Errorf("got %s", &out)
	}
	if cli.CodeOf(err) != cli.ExitFailed || cli.KindOf(err) != api.KindFailed || err.Error() != "a\nb\n" {
		t.Errorf("got %d, %s, %q", cli.CodeOf(err), cli.KindOf(err), err)
	}
	if err := Errors(w, 2, []error{missing, missing}); cli.KindOf(err) != api.KindJobNotFound {
		t.Errorf("of one kind: got %s", cli.KindOf(err))
	}
}
