package gke_test

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// Only what was asked for is compared with a pool that exists.
func TestLimitsFor(t *testing.T) {
	for name, tt := range map[string]struct {
		accelerator string
		asked       gke.Options
		is          gke.Size
		want        gke.Size
	}{
		"nothing was asked for":     {"l4", gke.Options{}, gke.Size{Min: 1, Max: 5}, gke.Size{Min: 1, Max: 5}},
		"a minimum":                 {"l4", gke.Options{Min: 2, MinGiven: true}, gke.Size{Min: 0, Max: 5}, gke.Size{Min: 2, Max: 5}},
		"a minimum over its limit":  {"l4", gke.Options{Min: 7, MinGiven: true}, gke.Size{Min: 0, Max: 5}, gke.Size{Min: 7, Max: 7}},
		"no minimum":                {"l4", gke.Options{MinGiven: true}, gke.Size{Min: 2, Max: 5}, gke.Size{Min: 0, Max: 5}},
		"a limit":                   {"l4", gke.Options{Max: 3}, gke.Size{Min: 0, Max: 10}, gke.Size{Min: 0, Max: 3}},
		"a limit under its minimum": {"l4", gke.Options{Max: 3}, gke.Size{Min: 4, Max: 10}, gke.Size{Min: 3, Max: 3}},
		"a slice":                   {"v6e-4x4", gke.Options{Min: 4, MinGiven: true}, gke.Size{Min: 0, Max: 4}, gke.Size{Min: 4, Max: 4}},
	} {
		a := parse(t, tt.accelerator)
		exists := plan(t, a, gke.Options{Min: tt.is.Min, Max: tt.is.Max}).Pool
		if got := plan(t, a, tt.asked).LimitsFor(exists); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

// Settings that can't be changed later are a difference.
func TestDifference(t *testing.T) {
	for want, options := range map[string][2]gke.Options{
		"":                                    {{Compact: true, FlexStart: true}, {Compact: true, FlexStart: true}},
		"queued provisioning false, not true": {{FlexStart: true}, {FlexStart: true, Queued: true}},
		"queued provisioning true, not false": {{FlexStart: true, Queued: true}, {FlexStart: true}},
		"compact placement false, not true":   {{}, {Compact: true}},
		"compact placement true, not false":   {{Compact: true}, {}},
		"disk size 100 GB, not 200 GB":        {{}, {DiskGB: 200}},
		"reservation none, not a":             {{}, {Reservation: "a"}},
	} {
		if got := gke.Difference(plan(t, parse(t, "l4"), options[0]).Pool, plan(t, parse(t, "l4"), options[1]).Pool); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
