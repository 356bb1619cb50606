package stack_test

import "testing"

// What installs Kueue is for the new cluster, whose context is not the current one.
func TestUpSaysHowToInstallKueueInTheCluster(t *testing.T) {
	for name, tt := range map[string]struct {
		args    []string
		context string
	}{
		"a cluster in a zone": {nil, "gke_acme_us-central1-a_research"},
		"Autopilot":           {[]string{"--autopilot"}, "gke_acme_us-central1_research"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.up(t, append(tt.args, "--yes", "--kueue")...).check(t, 1,
				"Kueue is not installed: install it, then repeat this command: kubectl --context="+tt.context+" apply --server-side -f https://")
		})
	}
}
