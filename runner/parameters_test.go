package runner

import (
	"bytes"
	"testing"
)

// TestParameters: all that the package has are found, with all that is asked of them.
func TestParameters(t *testing.T) {
	source, err := Sources.ReadFile("kinetic/options.py")
	if err != nil {
		t.Fatal(err)
	}
	all := Parameters()
	if want := bytes.Count(source, []byte("\n    Parameter(")); len(all) != want || want < 30 {
		t.Errorf("found %d parameters, want %d", len(all), want)
	}
	also := 0
	for _, p := range all {
		if p.Name == "" || p.Flag == "" && p.Name != "flags" && p.Name != "logs" {
			t.Errorf("got %+v", p)
		}
		also += len(p.Also)
	}
	if want := bytes.Count(source, []byte(", also=")); also < want || want == 0 {
		t.Errorf("found %d other words for parameters, want %d or more", also, want)
	}
}
