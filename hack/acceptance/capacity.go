package main

import (
	"errors"
	"strings"
)

// saying is words of kubectl kinetic, and the file that has them.
type saying struct{ words, file string }

// elsewhere are the words with which it says that the region of the run has no such machines at all: then a step can't be
// tried there, however many machines Google Cloud has.
var elsewhere = []saying{
	{"they need a cluster in their region", "pkg/google/gke/zones.go"},
	{"no zone has machines of type", "pkg/google/gke/zones.go"},
}

// shortages are the words with which it says that machines or quota are missing now. Nothing else counts: a job that
// waits and nobody says why has found a bug, and so has an answer that leads nowhere.
var shortages = []saying{
	{"Google Cloud has no such machine free", "pkg/kube/diagnose/autoscaler.go"},
	{"the project's Compute Engine quota is used up", "pkg/kube/diagnose/autoscaler.go"},
	{"waiting after a failed attempt", "pkg/kube/diagnose/autoscaler.go"},
	{"wait after failed attempts", "pkg/kube/diagnose/autoscaler.go"},
	{"machines free now", "pkg/google/gke/pool.go"},
	{"there are not enough resources", "pkg/google/gcp/explain.go"},
	{"; ask for more at ", "pkg/google/gcp/detail.go"},
}

// said returns what an error says with one of some words, "" if it says none of them.
func said(err error, all []saying) string {
	var f *failure
	if !errors.As(err, &f) {
		return ""
	}
	for _, text := range append(f.waited, f.message) {
		for _, each := range all {
			if strings.Contains(text, each.words) {
				return text
			}
		}
	}
	return ""
}
