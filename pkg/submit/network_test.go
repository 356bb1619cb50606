package submit

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestCheckNetwork(t *testing.T) {
	for name, tt := range map[string]struct {
		accelerator string
		request     api.Request
		want        string // "" if it is accepted
	}{
		"nothing":       {"l4", api.Request{}, ""},
		"TCP":           {"l4", api.Request{Placement: api.Placement{Network: api.NetworkTCP}}, ""},
		"RDMA":          {"b200", api.Request{Placement: api.Placement{Network: api.NetworkRDMA, Hosts: 2}}, ""},
		"TCPXO":         {"h100-mega", api.Request{Placement: api.Placement{Network: api.NetworkTCPXO, Hosts: 2}}, ""},
		"another GPU":   {"l4", api.Request{Placement: api.Placement{Network: api.NetworkRDMA, Hosts: 2}}, "--network rdma: l4 has no such network: omit it, or choose an --accelerator that has: b200, gb200, h200"},
		"the other one": {"b200", api.Request{Placement: api.Placement{Network: api.NetworkTCPXO, Hosts: 2}}, "--network tcpxo: b200x8 has no such network"},
		"cpu":           {"cpu", api.Request{Placement: api.Placement{Network: api.NetworkRDMA, Hosts: 2}}, "--network rdma: cpu has no such network"},
		"one host":      {"b200", api.Request{Placement: api.Placement{Network: api.NetworkRDMA}}, "--network rdma: a single host needs no network between hosts"},
		"restricted":    {"b200", api.Request{Placement: api.Placement{Network: api.NetworkRDMA, Hosts: 2, Restricted: true}}, "--network rdma cannot be combined with --restricted"},
	} {
		tt.request.AcceleratorText = tt.accelerator
		if got := message(checkNetwork(typed(t, tt.request))); (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestWantedNetwork(t *testing.T) {
	for name, tt := range map[string]struct {
		accelerator string
		hosts       int
		change      func(*api.Spec)
		want        api.Network
		why         string
	}{
		"RDMA":                          {"h200", 2, func(*api.Spec) {}, api.NetworkRDMA, ""},
		"TCPXO":                         {"h100-mega", 2, func(*api.Spec) {}, api.NetworkTCPXO, ""},
		"one host":                      {"h200", 1, func(*api.Spec) {}, "", ""},
		"no accelerator":                {"cpu", 4, func(*api.Spec) {}, "", ""},
		"a TPU":                         {"v6e-16", 4, func(*api.Spec) {}, "", ""},
		"on this machine":               {"h200", 2, func(s *api.Spec) { s.Backend = api.BackendLocal }, "", ""},
		"TCPX":                          {"h100x8", 2, func(*api.Spec) {}, api.NetworkTCP, "no manifests for GPUDirect-TCPX, the network of a3-highgpu-8g"},
		"no other":                      {"l4", 2, func(*api.Spec) {}, api.NetworkTCP, "kinetic knows no other network of g2-standard-4"},
		"TCP":                           {"h200", 2, func(s *api.Spec) { s.Network = api.NetworkTCP }, api.NetworkTCP, "--network is tcp"},
		"restricted":                    {"h200", 2, func(s *api.Spec) { s.Restricted = true }, api.NetworkTCP, "directories of their nodes"},
		"a class":                       {"h200", 2, func(s *api.Spec) { s.Capacity.Kind = api.CapacityClass }, api.NetworkTCP, "a ComputeClass decides"},
		"a queue":                       {"h200", 2, func(s *api.Spec) { s.Queue = "team" }, api.NetworkTCP, "Kueue admits no job with a claim of RDMA cards"},
		"a queue, but it was asked for": {"h200", 2, func(s *api.Spec) { s.Queue, s.Network = "team", api.NetworkRDMA }, api.NetworkRDMA, ""},
		"a queue for TCPXO":             {"h100-mega", 2, func(s *api.Spec) { s.Queue = "team" }, api.NetworkTCPXO, ""},
		"a class, but it was asked for": {"h200", 2, func(s *api.Spec) { s.Capacity.Kind, s.Network = api.CapacityClass, api.NetworkRDMA }, api.NetworkRDMA, ""},
	} {
		acc, err := accelerator.Parse(tt.accelerator, accelerator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := api.Spec{Placement: api.Placement{Accelerator: acc, Hosts: tt.hosts}}
		tt.change(&s)
		if got, why := WantedNetwork(s); got != tt.want || (why == "") != (tt.why == "") || !strings.Contains(why, tt.why) {
			t.Errorf("%s: got %q, %q, want %q, %q", name, got, why, tt.want, tt.why)
		}
	}
}
