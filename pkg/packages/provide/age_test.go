package provide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
)

// TestAgeOfAnImage: who uses an image of unpinned packages for long is told, also if others have made it.
func TestAgeOfAnImage(t *testing.T) {
	w := newWorld(t)
	plan := w.plan("six\n", bundled)
	ref, err := name.ParseReference(plan.Image)
	w.must(err)
	w.must(remote.Write(ref, w.baseOf("python3.12")))
	old := "the image has had the same packages for at least 31 days: --refresh-deps looks for newer ones"
	for _, c := range []struct {
		days int
		look bool
		want bool
	}{{0, true, false}, {40, false, false}, {70, false, false}, {71, false, true}, {71, true, true}} {
		w.now, w.look = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).AddDate(0, 0, c.days), c.look
		if done := w.mustProvide(plan); slices.Contains(done.Warnings, old) != c.want || len(done.Warnings) > 1 {
			t.Errorf("after %d days: warnings %q", c.days, done.Warnings)
		}
	}
	w.must(remote.Write(ref, w.baseOf("python3.13")))
	if done := w.mustProvide(plan); len(done.Warnings) > 0 {
		t.Errorf("a new image: warnings %q", done.Warnings)
	}
	locked := w.plan(w.locked(w.wheel("six", "1.0", "x = 1")), bundled)
	w.look = false
	w.mustProvide(locked)
	for range 2 {
		w.now = w.now.AddDate(1, 0, 0)
		if done := w.mustProvide(locked); len(done.Warnings) > 0 {
			t.Errorf("a lock: warnings %q", done.Warnings)
		}
	}
}

// TestAgeAfterARefresh: who has looked for newer packages, and found none, is not told to.
func TestAgeAfterARefresh(t *testing.T) {
	var w *world
	same := func(_ *cloudbuildtest.Service, b *cloudbuildtest.Build) {
		image := w.baseOf("python3.12")
		digest, err := image.Digest()
		w.must(err)
		ref, err := name.ParseReference(w.host() + strings.TrimPrefix(b.Image(), "europe-docker.pkg.dev"))
		w.must(err)
		w.must(remote.Write(ref, image))
		b.Status, b.Results = cloudbuildpb.Build_SUCCESS, &cloudbuildpb.Results{BuildStepOutputs: [][]byte{[]byte(digest.String())}}
	}
	w = newCloudWorld(t, cloudbuildtest.Works, same)
	plan := w.cloudPlan("six\n", bundled)
	start := w.now
	for _, c := range []struct {
		days    int
		refresh bool
		want    string
	}{{0, false, ""}, {1, false, ""}, {41, false, "at least 40 days"}, {41, true, ""}, {42, false, ""}, {71, false, ""}, {72, false, "at least 31 days"}} {
		w.now, plan.Settings.RefreshDeps = start.AddDate(0, 0, c.days), c.refresh
		done := w.mustProvide(plan)
		if said := strings.Join(done.Warnings, "\n"); (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("after %d days: warnings %q, want %q", c.days, said, c.want)
		}
	}
	if builds := w.cloud.Builds(); len(builds) != 2 {
		t.Errorf("%d builds, want the first and the refreshed one", len(builds))
	}
}
