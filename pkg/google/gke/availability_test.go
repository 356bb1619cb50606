package gke

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func read(t *testing.T, s *gcptest.Server, machines ...string) (*Availability, error) {
	t.Helper()
	var all []Machine
	for _, m := range machines {
		kind, gpu, _ := strings.Cut(m, "+")
		all = append(all, Machine{kind, gpu})
	}
	access, err := gcp.New(t.Context(), s.Env)
	if err != nil {
		t.Fatal(err)
	}
	return ReadAvailability(t.Context(), access, gcptest.DefaultProject, "us-central1", all)
}

func TestRead(t *testing.T) {
	s := gcptest.New(t)
	s.SetMachineTypes("us-central1-b", "ct6e-standard-8t", "g2-standard-4")
	s.SetMachineTypes("us-central1-a", "ct6e-standard-8t")
	s.SetMachineTypes("europe-west4-a", "ct6e-standard-8t", "a3-highgpu-8g")
	s.SetQuota("us-central1", "NVIDIA_L4_GPUS", 8, 5)
	s.SetQuota("us-central1", "NVIDIA_H100_GPUS", 8, 9)
	s.SetPageSize(1)
	a, err := read(t, s, "ct6e-standard-8t", "g2-standard-4", "g2-standard-48")
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Zones(Machine{Type: "ct6e-standard-8t"}); !slices.Equal(got, []string{"europe-west4-a", "us-central1-a", "us-central1-b"}) {
		t.Errorf("got %q", got)
	}
	if got := a.Zones(Machine{Type: "g2-standard-4"}); !slices.Equal(got, []string{"us-central1-b"}) {
		t.Errorf("got %q", got)
	}
	if got := slices.Concat(a.Zones(Machine{Type: "g2-standard-48"}), a.Zones(Machine{Type: "a3-highgpu-8g"})); got != nil { // nobody asked for the second
		t.Errorf("got %q", got)
	}
	if q, listed := a.Quota("NVIDIA_L4_GPUS"); !listed || q.Free() != 3 {
		t.Errorf("got %+v, %v", q, listed)
	}
	if q, listed := a.Quota("NVIDIA_H100_GPUS"); !listed || q.Free() != 0 {
		t.Errorf("got %+v, %v", q, listed)
	}
	if q, listed := a.Quota("NVIDIA_T4_GPUS"); listed {
		t.Errorf("got %+v", q)
	}
}

// N1 machines are in zones that lack the GPUs.
func TestZonesOfAttachedGPUs(t *testing.T) {
	s := gcptest.New(t)
	s.SetMachineTypes("us-central1-a", "n1-standard-4", "n1-standard-8")
	s.SetMachineTypes("us-central1-b", "n1-standard-4", "n1-standard-8")
	s.SetGPUs("us-central1-a", "nvidia-tesla-t4")
	s.SetGPUs("us-central1-b", "nvidia-tesla-v100", "nvidia-tesla-t4")
	a, err := read(t, s, "n1-standard-4+nvidia-tesla-t4", "n1-standard-8+nvidia-tesla-v100", "n1-standard-4+nvidia-tesla-p4", "n1-standard-4")
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[Machine][]string{
		{"n1-standard-4", "nvidia-tesla-t4"}:   {"us-central1-a", "us-central1-b"},
		{"n1-standard-8", "nvidia-tesla-v100"}: {"us-central1-b"},
		{"n1-standard-4", "nvidia-tesla-p4"}:   {},
		{"n1-standard-4", ""}:                  {"us-central1-a", "us-central1-b"},
	} {
		if got := a.Zones(m); got == nil || !slices.Equal(got, want) {
			t.Errorf("%v: got %q, want %q", m, got, want)
		}
	}
}

// The GPUs of all regions together have a quota, which is 0 in new projects.
func TestQuotaFor(t *testing.T) {
	for name, tt := range map[string]struct {
		global      float64
		accelerator string
		want        string // "" for none
		free        float64
	}{
		"the region's is smaller":  {64, "l4", "NVIDIA_L4_GPUS", 3},
		"the project's is smaller": {2, "l4", "GPUS_ALL_REGIONS", 2},
		"no GPU anywhere":          {0, "h200", "GPUS_ALL_REGIONS", 0},
		"the region lists none":    {64, "h200", "", 0},
		"a TPU that is listed":     {0, "v5e-8", "TPU_LITE_PODSLICE_V5", 32},
		"a TPU that is not":        {0, "v6e-8", "", 0},
	} {
		s := gcptest.New(t)
		s.SetGlobalQuota("GPUS_ALL_REGIONS", tt.global, 0)
		s.SetQuota("us-central1", "NVIDIA_L4_GPUS", 8, 5)
		s.SetQuota("us-central1", "TPU_LITE_PODSLICE_V5", 32, 0)
		a, err := read(t, s, "g2-standard-4")
		if err != nil {
			t.Fatal(err)
		}
		acc, err := accelerator.Parse(tt.accelerator, accelerator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if q, listed := a.QuotaFor(acc); q.Metric != tt.want || q.Free() != tt.free || listed != (tt.want != "") {
			t.Errorf("%s: got %+v, %v", name, q, listed)
		}
	}
}

func TestReadFails(t *testing.T) {
	for permission, want := range map[string]string{
		"compute.machineTypes.list": "asking which zones have which machines",
		"compute.regions.get":       "reading the quotas of us-central1",
		"compute.projects.get":      "reading the quotas of project acme",
	} {
		s := gcptest.New(t)
		s.Deny(permission)
		if _, err := read(t, s, "g2-standard-4"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), permission) {
			t.Errorf("without %s: got %v", permission, err)
		}
	}
}
