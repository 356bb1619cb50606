package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestWhetherAFailureWasRetried(t *testing.T) {
	exception := api.Status{State: api.Failed, Reason: api.Exception, Message: "ValueError: bad", Attempt: 1}
	second := exception
	second.Attempt = 2
	const not = " (not retried: --retries covers crashes; --retry-on error covers this too)"
	tests := map[string]struct {
		handle api.Handle
		status api.Status
		want   string
	}{
		"no retries":              {api.Handle{}, exception, ""},
		"retries of crashes":      {api.Handle{Retries: 2}, exception, not},
		"after a crash":           {api.Handle{Retries: 2}, second, not},
		"a script":                {api.Handle{Retries: 2}, api.Status{State: api.Failed, Reason: api.ExitCode}, not},
		"retries of errors, used": {api.Handle{Retries: 1, RetryOn: api.RetryOnError}, second, " (attempt 2, the last one)"},
		"a crash":                 {api.Handle{Retries: 2}, api.Status{State: api.Failed, Reason: api.Killed}, ""},
		"cancelled":               {api.Handle{Retries: 2}, api.Status{State: api.Failed, Reason: api.Cancelled}, ""},
		"a map":                   {api.Handle{Retries: 3, Map: &api.Map{}}, exception, ""},
		"a local job":             {api.Handle{Retries: 2, Backend: api.BackendLocal}, exception, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (&Job{Handle: tt.handle}).retried(tt.status); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFailureBody(t *testing.T) {
	f := Failure{Printed: "Traceback:\n  line 1\nValueError: bad\n", Details: "the value: 1\n", Next: "kubectl kinetic jobs logs cpu-x --local"}
	want := `  Traceback:
    line 1
  ValueError: bad
  the value: 1
next: kubectl kinetic jobs logs cpu-x --local
`
	if diff := cmp.Diff(want, f.Body()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	f.Printed, f.Details = "", ""
	if want := "next: kubectl kinetic jobs logs cpu-x --local\n"; f.Body() != want {
		t.Errorf("with nothing to show: %q", f.Body())
	}
}

// The end of the log is shown if it may say why the job failed, with the number of its host.
func TestFailureShowsTheEndOfTheLog(t *testing.T) {
	crashed := api.Status{State: api.Failed, Reason: api.Killed}
	tests := map[string]struct {
		handle api.Handle
		status api.Status
		want   string
	}{
		"one host":         {api.Handle{JobID: "a1", Hosts: 1}, crashed, "printed\n"},
		"several hosts":    {api.Handle{JobID: "a1", Hosts: 2}, crashed, "the last lines of host 1:\nprinted\n"},
		"it was cancelled": {api.Handle{JobID: "a1", Hosts: 2}, api.Status{State: api.Failed, Reason: api.Cancelled}, ""},
		"a map":            {api.Handle{JobID: "a1", Map: &api.Map{}}, crashed, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := storeWith(t, map[string]string{"a1/end.json": `{"version":1,"state":"FAILED","host":1}`})
			j := &Job{Handle: tt.handle, Store: store, Backend: slow{steps: steps{tt.status}}}
			f, err := j.Failure(t.Context(), tt.status)
			if err != nil || f.Printed != tt.want {
				t.Errorf("got %q, %v, want %q", f.Printed, err, tt.want)
			}
		})
	}
}

// A user who has read the log is not told to read it.
func TestWhatComesAfterAFailure(t *testing.T) {
	const again = "to delete this job: kubectl kinetic jobs cleanup a1 -n ml"
	for reason, want := range map[api.Reason]string{
		api.Exception:        again,
		api.ExitCode:         again,
		api.NoProgram:        again,
		api.BadResult:        again,
		api.BadEnvironment:   again,
		api.BadData:          again,
		api.BadPayload:       again,
		api.Killed:           "kubectl kinetic jobs describe a1 -n ml",
		api.DeadlineExceeded: "kubectl kinetic jobs describe a1 -n ml",
		"":                   "kubectl kinetic jobs describe a1 -n ml",
	} {
		status := api.Status{State: api.Failed, Reason: reason}
		j := &Job{
			Handle:  api.Handle{JobID: "a1", Hosts: 1, Namespace: "ml"},
			Store:   storeWith(t, map[string]string{"a1/end.json": `{"version":1,"state":"FAILED"}`}),
			Backend: slow{steps: steps{status}},
		}
		f, err := j.Failure(t.Context(), status)
		if err != nil || f.AfterLog != want || f.Next != "kubectl kinetic jobs logs a1 -n ml" {
			t.Errorf("%s: %q and %q, %v", reason, f.Next, f.AfterLog, err)
		}
	}
}

func TestLimitedBufferKeepsTheEnd(t *testing.T) {
	var b limitedBuffer
	for range bufferLimit/10 + 5 {
		_, _ = b.Write([]byte("0123456789")) // never fails
	}
	if len(b.data) != bufferLimit || b.data[len(b.data)-1] != '9' {
		t.Errorf("kept %d bytes ending in %q, want %d", len(b.data), b.data[len(b.data)-1], bufferLimit)
	}
}
