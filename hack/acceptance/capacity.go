package main

import (
	"errors"
	"strings"
)

// shortages are the words with which kubectl kinetic says that machines or quota are missing, and the file that
// has them. Nothing else counts: a job that waits and nobody says why has found a bug.
var shortages = []struct{ words, file string }{
	{"Google Cloud has no such machine free", "pkg/status/autoscaler.go"},
	{"the project's Compute Engine quota is used up", "pkg/status/autoscaler.go"},
	{"waiting after a failed attempt", "pkg/status/autoscaler.go"},
	{"wait after failed attempts", "pkg/status/autoscaler.go"},
	{"machines free now", "pkg/gke/pool.go"},
	{"the nearest zones that have it", "pkg/gke/zones.go"},
	{"no zone has machines of type", "pkg/gke/zones.go"},
	{"there are not enough resources", "pkg/gcp/explain.go"},
	{"; ask for more at ", "pkg/gcp/detail.go"},
}

// shortage returns what an error says about machines or quota that are missing, "" if it says nothing of them.
func shortage(err error) string {
	var f *failure
	if !errors.As(err, &f) {
		return ""
	}
	for _, said := range append(f.waited, f.message) {
		for _, each := range shortages {
			if strings.Contains(said, each.words) {
				return said
			}
		}
	}
	return ""
}
