package accelerators

import "testing"

func TestSomeZones(t *testing.T) {
	here, east, two := "us-central1-a", "us-east5-b", "us-central1-b"
	for name, tt := range map[string]struct {
		zones []string
		want  string
	}{
		"none":           {nil, ""},
		"here":           {[]string{here}, "us-central1-a"},
		"several here":   {[]string{here, two}, "us-central1-a,b"},
		"elsewhere":      {[]string{east}, "us-east5-b"},
		"here first":     {[]string{"europe-west4-a", here, two, east}, "us-central1-a,b +2"},
		"only elsewhere": {[]string{"europe-west4-a", "europe-west4-b", east}, "europe-west4-a,b +1"},
	} {
		if got := someZones(tt.zones, "us-central1"); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
