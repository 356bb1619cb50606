package accelerator

import (
	"slices"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestNetworkOf(t *testing.T) {
	for machine, want := range map[string]api.Network{
		"a3-highgpu-8g": TCPX, "a3-megagpu-8g": api.NetworkTCPXO, "a3-ultragpu-8g": api.NetworkRDMA, "a4-highgpu-8g": api.NetworkRDMA, "a4x-highgpu-4g": api.NetworkRDMA,
		"ct6e-standard-1t": NICs, "ct6e-standard-4t": NICs, "ct6e-standard-8t": NICs, "tpu7x-standard-4t": NICs,
		"a3-highgpu-4g": NoNetwork, "a4x-maxgpu-4g-metal": NoNetwork, "g2-standard-4": NoNetwork, "ct5p-hightpu-4t": NoNetwork,
		"e2-standard-4": NoNetwork, "": NoNetwork,
	} {
		if got := NetworkOf(machine); got != want {
			t.Errorf("%q: got %q, want %q", machine, got, want)
		}
	}
}

func TestNamesWith(t *testing.T) {
	for n, want := range map[api.Network][]string{api.NetworkRDMA: {"b200", "gb200", "h200"}, api.NetworkTCPXO: {"h100-mega"}, "none": nil} {
		if got := NamesWith(n); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", n, got, want)
		}
	}
}
