//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestGet(t *testing.T) {
	f := newFixture(t)
	f.start(t, "pause")
	got, err := f.get(t.Context(), jobID)
	if err != nil {
		t.Fatal(err)
	}
	spec := f.spec()
	want := Record{Version: 1, ID: jobID, Name: "train", Accelerator: "cpu", Store: spec.Store, Created: spec.Created,
		Status: api.Status{State: api.Running, Attempt: 1, Started: spec.Created}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Record{}, "Process", "Runner")); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	for _, id := range []string{"cpu-other", "../" + jobID, ""} {
		if _, err := f.get(t.Context(), id); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("Get(%q): got %v, want an error that names it", id, err)
		}
	}
	if _, err := f.get(t.Context(), "cpu-other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error that is fs.ErrNotExist", err)
	}
}

func TestList(t *testing.T) {
	f := newFixture(t)
	if records, err := f.List(t.Context(), api.ListStates); len(records) > 0 || err != nil {
		t.Errorf("before any job: got %v, %v", records, err)
	}
	var want []string
	for n, id := range []string{"cpu-b", "cpu-c", "cpu-a"} {
		spec := f.spec("exit:3")
		spec.ID, spec.Created = id, spec.Created.Add(time.Duration(n)*time.Hour)
		if err := f.Start(t.Context(), spec, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Delete(context.Background(), api.Handle{JobID: id}, api.DeleteOptions{}) })
		if _, err := f.Watch(t.Context(), api.Handle{JobID: id}, func(api.WorkloadStatus) {}); err != nil {
			t.Fatal(err)
		}
		want = append([]string{id + " FAILED ExitCode"}, want...)
	}
	broken := filepath.Join(f.stateDir, "cpu-broken")
	if err := os.MkdirAll(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, recordFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := f.List(t.Context(), api.ListStates)
	if err == nil || !strings.Contains(err.Error(), "cpu-broken") {
		t.Errorf("got %v, want an error that names what cannot be read", err)
	}
	var got []string
	for _, r := range records {
		got = append(got, r.ID+" "+string(r.Status.State)+" "+string(r.Status.Reason))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestRecordOfANewerVersion(t *testing.T) {
	f := newFixture(t)
	f.plant(t, Process{})
	path := filepath.Join(f.dir(jobID), recordFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(data), `"version": 1`, `"version": 2`, 1)
	if err := os.WriteFile(path, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.get(t.Context(), jobID); err == nil || !strings.Contains(err.Error(), "upgrade") {
		t.Errorf("got %v, want it to say upgrade", err)
	}
}
