package api

import "testing"

func TestEndKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		job  JobSummary
		want bool
	}{
		"its workload says so":        {JobSummary{State: Failed, Status: Status{State: Failed}}, true},
		"the store says so":           {JobSummary{State: NotFound, Status: Status{State: NotFound, Ended: "SUCCEEDED"}}, true},
		"it runs":                     {JobSummary{State: Running, Status: Status{State: Running}}, false},
		"it may run out of our sight": {JobSummary{State: NotFound, Status: Status{State: NotFound}}, false},
	} {
		if got := tt.job.EndKnown(); got != tt.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
