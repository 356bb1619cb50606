package runner

import (
	"strings"
	"testing"
)

// TestParameters: all that the package has are found, with all that is asked of them.
func TestParameters(t *testing.T) {
	all := Parameters()
	if want := strings.Count(table, "\n    Parameter("); len(all) != want || want < 30 {
		t.Errorf("found %d parameters, want %d", len(all), want)
	}
	also := 0
	for _, p := range all {
		if p.Name == "" || p.Flag == "" && p.Name != "flags" && p.Name != "logs" {
			t.Errorf("got %+v", p)
		}
		also += len(p.Also)
	}
	if want := strings.Count(table, ", also="); also < want || want == 0 {
		t.Errorf("found %d other words for parameters, want %d or more", also, want)
	}
}
