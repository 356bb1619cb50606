package api

import "testing"

func TestOutcome(t *testing.T) {
	seven := 7
	tests := map[string]struct {
		status Status
		want   string
	}{
		"succeeded":              {Status{State: Succeeded, Reason: Completed}, "succeeded"},
		"exception":              {Status{State: Failed, Reason: Exception, Message: "ValueError: bad"}, "failed: ValueError: bad"},
		"exit code, no message":  {Status{State: Failed, Reason: ExitCode, ExitCode: &seven}, "failed: exit code 7"},
		"no message":             {Status{State: Failed, Reason: Killed}, "failed: Killed"},
		"out of retries":         {Status{State: Failed, Reason: Killed, Message: "out of memory", Attempt: 3}, "failed: out of memory (attempt 3, the last one)"},
		"no retries to spend":    {Status{State: Failed, Reason: Killed, Message: "out of memory", Attempt: 1}, "failed: out of memory"},
		"exception after a loss": {Status{State: Failed, Reason: Exception, Message: "ValueError: bad", Attempt: 2}, "failed: ValueError: bad"},
		"nothing known":          {Status{State: Failed}, "failed"},
		"cancelled":              {Status{State: Failed, Reason: Cancelled, Message: "cancelled"}, "cancelled"},
		"cancelled, gone":        {Status{State: NotFound, Ended: "CANCELLED", Reason: Cancelled, Message: "cancelled"}, "cancelled"},
		"given up":               {Status{State: Failed, Reason: Cancelled, Message: "it could not start: no image"}, "cancelled: it could not start: no image"},
		"succeeded, gone":        {Status{State: NotFound, Ended: "SUCCEEDED", Reason: Completed}, "succeeded"},
		"failed, gone":           {Status{State: NotFound, Ended: "FAILED", Reason: Exception, Message: "ValueError: bad"}, "failed: ValueError: bad"},
		"running":                {Status{State: Running}, "running"},
		"gone":                   {Status{State: NotFound}, "not found"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.status.Outcome(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
