package job

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// group is a workload that can't end by itself.
type group struct {
	slow
	released *api.End
}

func (g group) Release(_ context.Context, _ api.Handle, end api.End) error {
	*g.released = end
	return nil
}

func TestTheStoreTellsHowAJobEndedWhoseWorkloadCant(t *testing.T) {
	parked := api.Status{State: api.Running, Attempt: 1, UnreleasedHosts: "16 chips"}
	gone := api.Status{State: api.Failed, Reason: api.Killed, Message: "backoff limit"}
	killed := api.Status{State: api.Failed, Reason: api.Killed, Message: "out of memory", ExitCode: new(137)}
	told := map[string]string{"a1/end.json": runnerEnd}
	for name, tt := range map[string]struct {
		status  api.Status
		objects map[string]string
		want    string
	}{
		"it holds its hosts and has ended":        {parked, told, "failed: the runner's word; finished, holding 16 chips"},
		"it has not":                              {parked, nil, "running"},
		"it failed and its pods are gone":         {gone, told, "failed: the runner's word"},
		"nobody has said why":                     {gone, nil, "failed: backoff limit"},
		"it failed and a pod that is there tells": {killed, told, "failed: out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			var released api.End
			s := storeWith(t, tt.objects)
			j := &Job{Handle: api.Handle{JobID: "a1"}, Store: s, Backend: group{slow{steps: steps{tt.status}}, &released}}
			status, err := j.Status(t.Context())
			if got := status.Outcome(); err != nil || got != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
			p := Registry{Store: s, Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
				return []api.JobSummary{{ID: "a1", Store: s.URL(), Status: tt.status}}, nil
			})}
			entries, err := p.Entries(t.Context(), Filter{}, api.ListStates)
			if err != nil || len(entries) != 1 || entries[0].Status.Outcome() != tt.want || entries[0].State != status.State {
				t.Errorf("listed as %+v, %v; want %s", entries, err, tt.want)
			}
			if status.UnreleasedHosts == "" {
				return
			}
			if err := j.Release(t.Context()); err != nil || released.Message != "the runner's word" {
				t.Errorf("released with %+v, %v", released, err)
			}
		})
	}
}

func TestTheAttemptThatRuns(t *testing.T) {
	record := func(n int, pod string) string { return fmt.Sprintf(`{"version":1,"attempt":%d,"uid":%q}`, n, pod) }
	runs := func(pod string, attempt int) api.WorkloadStatus {
		return api.WorkloadStatus{Status: api.Status{State: api.Running, Attempt: attempt}, CurrentPod: api.CurrentPod{Pod: pod}}
	}
	two := map[string]string{"a1/attempts/1.json": record(1, "gone"), "a1/attempts/2.json": record(2, "b")}
	tests := map[string]struct {
		objects map[string]string
		python  bool
		steps   []api.WorkloadStatus
		want    []int
	}{
		"none is recorded":             {nil, false, []api.WorkloadStatus{runs("a", 1)}, []int{1}},
		"whose earlier pods are gone":  {two, false, []api.WorkloadStatus{runs("b", 1)}, []int{2}},
		"that has not recorded itself": {two, false, []api.WorkloadStatus{runs("c", 1)}, []int{3}},
		"one after the other":          {two, false, []api.WorkloadStatus{runs("b", 1), {Status: api.Status{State: api.Pending, Attempt: 1}}, runs("c", 2)}, []int{2, 1, 3}},
		"of the Python tool":           {two, true, []api.WorkloadStatus{runs("b", 1)}, []int{1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, tt.objects), Backend: inPods{statuses: tt.steps}}
			if tt.python {
				j.Handle.BucketName = "bucket"
			}
			var got []int
			if _, err := j.watch(t.Context(), func(s api.Status) { got = append(got, s.Attempt) }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A pending job that ends waits for nothing, whatever its last pod says.
func TestWatchOfAJobThatEnds(t *testing.T) {
	waits := api.WorkloadStatus{Status: api.Status{State: api.Pending, Message: "out of memory", Next: "kubectl describe pod"}}
	ends := waits
	ends.Ending = true
	j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, nil), Backend: inPods{statuses: []api.WorkloadStatus{waits, ends}}}
	var got []string
	if _, err := j.watch(t.Context(), func(s api.Status) { got = append(got, s.Message+s.Next) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"out of memorykubectl describe pod", ""}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
