package job

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

const (
	ourHandle = `{"version":1,"job_id":"a1","backend":"gke","func_name":"f","accelerator":"cpu","created_at":"2026-01-01T00:00:00Z"}`
	runnerEnd = `{"version":1,"state":"FAILED","reason":"Exception","message":"the runner's word","by":"runner"}`
)

func TestRemember(t *testing.T) {
	failed := api.Status{State: api.Failed, Reason: api.Killed, Message: "out of memory", Attempt: 2}
	succeeded := api.Status{State: api.Succeeded, Reason: api.Completed}
	tests := map[string]struct {
		id      string
		objects map[string]string
		status  api.Status
		want    string // by whom, state, exit code, message
	}{
		"nobody else knows":                        {"a1", map[string]string{"a1/handle.json": ourHandle}, failed, "client FAILED 137 out of memory"},
		"the runner was first":                     {"a1", map[string]string{"a1/handle.json": ourHandle, "a1/end.json": runnerEnd}, failed, "runner FAILED 0 the runner's word"},
		"it was cleaned up meanwhile":              {"a1", nil, failed, "nothing"},
		"it is running":                            {"a1", map[string]string{"a1/handle.json": ourHandle}, api.Status{State: api.Running}, "nothing"},
		"it is gone":                               {"a1", map[string]string{"a1/handle.json": ourHandle}, api.Status{State: api.NotFound}, "nothing"},
		"success is for the runner to tell":        {"a1", map[string]string{"a1/handle.json": ourHandle}, succeeded, "nothing"},
		"but for the Python tool's, which doesn't": {"job-1a2b3c4d", map[string]string{"job-1a2b3c4d/handle.json": pythonHandle}, succeeded, "client SUCCEEDED 0 "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := storeWith(t, tt.objects)
			j := &Job{Handle: api.Handle{JobID: tt.id}, Store: s}
			if h, err := readHandle(t.Context(), s, tt.id); err == nil {
				j.Handle = h
			}
			if err := j.Remember(t.Context(), tt.status); err != nil {
				t.Fatal(err)
			}
			got := "nothing"
			if end, err := records.Read[api.End](t.Context(), s, store.End(tt.id)); err == nil {
				got = end.By + " " + string(end.State) + " " + strconv.Itoa(end.ExitCode) + " " + end.Message
			}
			if got != tt.want {
				t.Errorf("recorded: %s, want %s", got, tt.want)
			}
		})
	}
	readOnly := &Job{Handle: api.Handle{JobID: "a1"}, Store: unwritable{storeWith(t, map[string]string{"a1/handle.json": ourHandle})}}
	if err := readOnly.Remember(t.Context(), failed); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a store that can't be written: %v", err)
	}
}

// unwritable is a store that can only be read.
type unwritable struct{ store.Store }

func (unwritable) Create(context.Context, string, io.Reader, map[string]string) error {
	return fs.ErrPermission
}

func TestWaitForAJobThatVanishes(t *testing.T) {
	running, gone := api.Status{State: api.Running, Attempt: 1}, api.Status{State: api.NotFound}
	deleted := api.Status{State: api.Failed, Reason: api.Terminated, Message: "its workload was deleted by someone else (kubectl delete?)", Attempt: 1}
	tests := map[string]struct {
		steps   steps
		objects map[string]string
		want    string
	}{
		"deleted while it ran":           {steps{running, gone}, map[string]string{"a1/handle.json": ourHandle}, deleted.Outcome()},
		"its end is known":               {steps{running, gone}, map[string]string{"a1/handle.json": ourHandle, "a1/end.json": runnerEnd}, "failed: the runner's word"},
		"cleaned up while it ran":        {steps{running, gone}, nil, "not found"},
		"it was gone before anyone came": {steps{gone}, map[string]string{"a1/handle.json": ourHandle}, "not found"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, tt.objects), Backend: tt.steps}
			got, err := j.Wait(t.Context(), func(api.Status) {})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Outcome()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got.Reason == deleted.Reason && !got.Finished.Equal(thereNow) {
				t.Errorf("finished at %v, want the time of the cluster, %v", got.Finished, thereNow)
			}
		})
	}
	j := &Job{Handle: api.Handle{JobID: "job-1a2b3c4d", BucketName: "b"}, Store: storeWith(t, map[string]string{"job-1a2b3c4d/result.pkl": "x"}), Backend: steps{gone}}
	if url, err := j.PythonResult(t.Context()); err != nil || !strings.HasSuffix(url, "/job-1a2b3c4d/result.pkl") {
		t.Errorf("the pickle lies in %q, %v", url, err)
	}
}
