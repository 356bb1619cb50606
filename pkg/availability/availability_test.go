package availability

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/gcp/gcptest"
)

func read(t *testing.T, s *gcptest.Server, machines ...string) (*Availability, error) {
	t.Helper()
	access, err := gcp.New(t.Context(), s.Env)
	if err != nil {
		t.Fatal(err)
	}
	return Read(t.Context(), access, gcptest.DefaultProject, "us-central1", machines)
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
	if got := a.Zones("ct6e-standard-8t"); !slices.Equal(got, []string{"europe-west4-a", "us-central1-a", "us-central1-b"}) {
		t.Errorf("got %q", got)
	}
	if got := a.Zones("g2-standard-4"); !slices.Equal(got, []string{"us-central1-b"}) {
		t.Errorf("got %q", got)
	}
	if got := slices.Concat(a.Zones("g2-standard-48"), a.Zones("a3-highgpu-8g")); got != nil { // nobody asked for the second
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

func TestReadFails(t *testing.T) {
	for permission, want := range map[string]string{
		"compute.machineTypes.list": "asking which zones have which machines",
		"compute.regions.get":       "reading the quotas of us-central1",
	} {
		s := gcptest.New(t)
		s.Deny(permission)
		if _, err := read(t, s, "g2-standard-4"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), permission) {
			t.Errorf("without %s: got %v", permission, err)
		}
	}
}
