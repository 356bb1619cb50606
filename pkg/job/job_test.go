package job

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// deleted is a cluster that no longer exists.
type deleted struct {
	Backend
	asked *int // how often it was called
}

var errUnreachable = errors.New("the API server can't be reached")

func (d deleted) Watch(context.Context, api.Handle, func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	*d.asked++
	return api.WorkloadStatus{}, errUnreachable
}

func (d deleted) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	*d.asked++
	return api.WorkloadStatus{}, errUnreachable
}

func (d deleted) Inspect(context.Context, api.Handle, bool) (api.WorkloadDetail, error) {
	*d.asked++
	return api.WorkloadDetail{}, errUnreachable
}

// After a job has ended and before its cluster reports that, Wait and Status agree. A
// cancelled job may still be saving its outputs.
func TestAJobThatItsClusterTakesForRunning(t *testing.T) {
	for end, want := range map[string]api.State{succeededEnd: api.Succeeded, runnerEnd: api.Failed, cancelledEnd: api.Running, "": api.Running} {
		j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, nil), Backend: steps{{State: api.Running}}}
		if end != "" {
			put(t, j, "a1/end.json", end)
		}
		status, err := j.Status(t.Context())
		if err != nil || status.State != want {
			t.Errorf("%s: %+v, %v; want %s", end, status, err, want)
		}
		if waited, err := j.Wait(t.Context(), func(api.Status) {}); err != nil || waited.State != want {
			t.Errorf("%s: waited until %+v, %v; want %s", end, waited, err, want)
		}
	}
}

const (
	succeededEnd = `{"version":1,"state":"SUCCEEDED","reason":"Completed","by":"runner"}`
	cancelledEnd = `{"version":1,"state":"FAILED","reason":"Cancelled","message":"cancelled","exit_code":143,"by":"cancel"}`
)

// The store has how a job ended, what it returned and what it printed. Reading that needs
// no cluster, which may be gone by then.
func TestAJobThatHasEndedNeedsNoCluster(t *testing.T) {
	asked := 0
	newJob := func(backend api.Backend, objects map[string]string) *Job {
		asked = 0
		return &Job{Handle: api.Handle{JobID: "a1", Backend: backend, Hosts: 1}, Store: storeWith(t, objects), Backend: deleted{asked: &asked}}
	}
	ended := map[string]string{"a1/end.json": succeededEnd, "a1/result.json": value("1"), "a1/logs/0/1-1.log": "2026-11-20T08:20:20.000000Z hello\n"}
	for backend, want := range map[api.Backend]int{
		api.BackendGKE: 0,
		api.BackendLWS: 1, // a set may have to be released
	} {
		j := newJob(backend, ended)
		status, err := j.Wait(t.Context(), func(api.Status) {})
		if err != nil || status.State != api.Succeeded || asked != want {
			t.Errorf("%s: waiting: %+v, %v; the cluster was asked %d times, want %d", backend, status, err, asked, want)
		}
	}
	j := newJob(api.BackendGKE, ended)
	if status, err := j.Status(t.Context()); err != nil || status.State != api.Succeeded || status.Unread != errUnreachable.Error() {
		t.Errorf("status: %+v, %v", status, err)
	}
	if d, err := j.Describe(t.Context()); err != nil || d.Status.State != api.Succeeded || !d.HasResult {
		t.Errorf("described: %+v, %v", d, err)
	}
	var out bytes.Buffer
	if err := j.Logs(t.Context(), logs.Options{Tail: -1, Host: -1}, display.Streams{Out: &out, Err: &out}); err != nil || out.String() != "hello\n" {
		t.Errorf("its log: %q, %v", &out, err)
	}

	j = newJob(api.BackendGKE, nil)
	if _, err := j.Wait(t.Context(), func(api.Status) {}); !errors.Is(err, errUnreachable) {
		t.Errorf("waiting for one that is running: %v", err)
	}
	if _, err := j.Status(t.Context()); !errors.Is(err, errUnreachable) {
		t.Errorf("the status of one that is running: %v", err)
	}
}

// explained is a workload whose status is read at once, without a watch.
type explained struct {
	steps
	status api.Status
}

func (e explained) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{Status: e.status}, nil
}

func (e explained) Watch(context.Context, api.Handle, func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{}, errors.New("it is watched")
}

func TestStatusTellsWhyAJobWaits(t *testing.T) {
	refused := func(s api.State) api.Status {
		return api.Status{State: s, Message: "the pod was refused by warden: no", Next: "kubectl describe job", Unrecoverable: true}
	}
	tests := map[string]struct {
		status api.Status
		want   string
	}{
		"it waits":          {api.Status{State: api.Pending, Message: "no node has room", Next: "kubectl get nodes"}, "waiting: no node has room; kubectl get nodes"},
		"it runs":           {api.Status{State: api.Running}, "running; "},
		"nothing will help": {refused(api.Pending), "waiting: the pod was refused by warden: no; kubectl kinetic jobs cancel a1 -n ml"},
		"a host is refused": {refused(api.Running), "the pod was refused by warden: no; kubectl kinetic jobs cancel a1 -n ml"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := &Job{Handle: api.Handle{JobID: "a1", Namespace: "ml", Hosts: 2}, Store: storeWith(t, nil), Backend: explained{status: tt.status}}
			s, err := j.Status(t.Context())
			if got := s.Outcome() + "; " + s.Next; err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
