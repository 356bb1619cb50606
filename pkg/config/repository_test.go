package config

import (
	"slices"
	"testing"
)

func TestRepository(t *testing.T) {
	for zone, want := range map[string]string{
		"europe-west4-b": "europe-docker.pkg.dev/p/kn-c/env", "us-central1-a": "us-docker.pkg.dev/p/kn-c/env", "": "us-docker.pkg.dev/p/kn-c/env",
		"me-west1-a": "me-west1-docker.pkg.dev/p/kn-c/env", "asia-east1-c": "asia-docker.pkg.dev/p/kn-c/env", "odd": "us-docker.pkg.dev/p/kn-c/env",
		"europe-west4": "europe-docker.pkg.dev/p/kn-c/env", "me-west1": "me-west1-docker.pkg.dev/p/kn-c/env", // of regional clusters
	} {
		if got := Repository("p", zone, "c"); got != want {
			t.Errorf("in %q: %s, want %s", zone, got, want)
		}
	}
	if got := Repository("", "us-central1-a", "c") + Repository("p", "us-central1-a", ""); got != "" {
		t.Errorf("an unknown place: %s", got)
	}
	if got := Repository("example.com:p", "us-central1-a", "c"); got != "us-docker.pkg.dev/example.com/p/kn-c/env" {
		t.Errorf("a project of a domain: %s", got)
	}
}

func TestByRegion(t *testing.T) {
	zones := []string{"europe-west4-a", "us-central1-a", "us-central1-b", "us-east5-b"}
	if got, want := ByRegion(zones, "us-central1"), []string{"us-central1-a,b", "europe-west4-a", "us-east5-b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := ByRegion(zones[1:3], ""); !slices.Equal(got, []string{"us-central1-a,b"}) {
		t.Errorf("got %q", got)
	}
}
