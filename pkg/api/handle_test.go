package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHandleRoundTrip(t *testing.T) {
	s := Spec{
		ID:            "l4-train-20260417-153012-abc1234",
		Name:          "train",
		Namespace:     "ml",
		Project:       "p",
		Zone:          "z",
		Cluster:       "c",
		Store:         "gs://b",
		CallKind:      CallFunction,
		CallSHA256:    "aa",
		BundleSHA256:  "bb",
		SecretEnv:     []string{"HF_TOKEN"},
		ClientVersion: "v1",
		Created:       time.Date(2026, 4, 17, 15, 30, 12, 345_678_900, time.UTC),
		Placement: Placement{
			Accelerator: Accelerator{Kind: GPU, Name: "l4", Chips: 1, Hosts: 1, Spot: true}, Capacity: Capacity{Kind: CapacitySpot},
			Backend: BackendGKE, AcceleratorText: "l4:spot", Hosts: 1, Slices: 1, Image: "img",
		},
		Execution: Execution{Env: []EnvVar{{Name: "PLAIN", Value: "visible-nowhere"}}},
	}
	data, err := json.Marshal(NewHandle(s))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "visible-nowhere") {
		t.Errorf("the handle holds the value of a variable: %s", data)
	}
	got, err := ParseHandle(data)
	if err != nil {
		t.Fatal(err)
	}
	want := Handle{
		Version: 1, JobID: s.ID, Backend: BackendGKE, Project: "p", Zone: "z", ClusterName: "c", Namespace: "ml",
		K8sName: "kinetic-" + s.ID, ImageURI: "img", Accelerator: "l4:spot", FuncName: "train",
		CreatedAt: time.Date(2026, 4, 17, 15, 30, 12, 345_000_000, time.UTC), Store: "gs://b",
		CallKind: CallFunction, CallSHA256: "aa", BundleSHA256: "bb", Hosts: 1, Spot: true, Capacity: CapacitySpot,
		Env: []string{"PLAIN"}, SecretEnv: []string{"HF_TOKEN"}, Client: "v1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.Backend = BackendLocal
	if h := NewHandle(s); h.K8sName != "" {
		t.Errorf("a local job has the Kubernetes name %q", h.K8sName)
	}
}

func TestParseHandleRejects(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":2,"job_id":"x","client":"v9.1"}`: "written by kubectl kinetic v9.1",
		`{"version":2,"job_id":["a new shape"]}`:     "upgrade kubectl kinetic",
		`{"version":1}`:                              "job_id is missing",
		`[]`:                                         "not a handle",
		``:                                           "not a handle",
	} {
		if _, err := ParseHandle([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	// The Python tool's handles have no version.
	h, err := ParseHandle([]byte(`{"job_id":"job-0123abcd","backend":"gke","created_at":"2026-01-02T03:04:05Z","debug":false}`))
	if err != nil || h.JobID != "job-0123abcd" {
		t.Errorf("a handle of the Python tool: %+v, %v", h, err)
	}
}

// The backend lws was called pathways before there was the other one.
func TestOlderBackend(t *testing.T) {
	for text, want := range map[string]Backend{
		`"backend":"pathways"`: BackendLWS,
		`"backend":"pathways","pathways":{"version":"jax-0.9.2","tpu_hosts":4}`: BackendPathways,
		`"backend":"lws"`: BackendLWS,
	} {
		h, err := ParseHandle([]byte(`{"version":1,"job_id":"x","hosts":1,` + text + `}`))
		if err != nil || h.Backend != want {
			t.Errorf("%s: got %q, %v, want %q", text, h.Backend, err, want)
		}
		if machines := map[Backend]int{BackendLWS: 1, BackendPathways: 4}[want]; h.Machines() != machines {
			t.Errorf("%s: got %d machines, want %d", text, h.Machines(), machines)
		}
	}
}

func TestShort(t *testing.T) {
	for want, a := range map[string]Accelerator{
		"cpu":  {Kind: CPU, Name: "cpu"},
		"l4":   {Kind: GPU, Name: "l4", Chips: 1},
		"l4x2": {Kind: GPU, Name: "l4", Chips: 2},
		"v5e1": {Kind: TPU, Name: "v5e", Chips: 1},
		"v6e8": {Kind: TPU, Name: "v6e", Chips: 8},
	} {
		if got := a.Short(); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
