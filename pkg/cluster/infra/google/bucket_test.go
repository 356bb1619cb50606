package google

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// Names of buckets are those of all projects: someone else may have the one that a cluster would have.
func TestBucketOfAnotherProject(t *testing.T) {
	const text = "bucket acme-kn-research-jobs: it belongs to another project, that with the number 100000000001, and jobs of project acme must not use it: choose another name with --cluster"
	taken := func(t *testing.T) *world {
		w := newWorld(t)
		w.AddProject("elsewhere")
		w.AddBucket("elsewhere", &storage.Bucket{Name: jobsBucket})
		return w
	}
	check := func(t *testing.T, w *world, err error, want string) {
		t.Helper()
		var explained *transport.Explained
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &explained) || explained.Of != api.KindExists {
			t.Errorf("got %v, want %s", err, want)
		}
		if members := w.Policy("b/" + jobsBucket).Bindings; len(members) > 0 {
			t.Errorf("its policy has %+v", members[0])
		}
	}
	t.Run("it is there", func(t *testing.T) {
		w := taken(t)
		check(t, w, infra.Taken(w.items, w.read(t)), "reading "+text)
	})
	t.Run("it is made meanwhile", func(t *testing.T) {
		w := taken(t)
		w.Fail(gcptest.Fault{Method: http.MethodGet, Path: "/b/" + jobsBucket + "$", Times: 1, Status: http.StatusNotFound})
		found, err := infra.Read(t.Context(), w.list)
		if err != nil {
			t.Fatal(err)
		}
		check(t, w, infra.Apply(t.Context(), w.list, found, infra.MakePlan(w.items, found, false), quiet), "creating "+text)
	})
	t.Run("ours is made meanwhile", func(t *testing.T) {
		w := newWorld(t)
		w.AddBucket("acme", &storage.Bucket{Name: jobsBucket})
		w.Fail(gcptest.Fault{Method: http.MethodGet, Path: "/b/" + jobsBucket + "$", Times: 1, Status: http.StatusNotFound})
		if err := w.up(t.Context(), false, quiet); err != nil {
			t.Error(err)
		}
	})
}

// Jobs in another region would wait for their data, and pay for each byte.
func TestBucketInAnotherRegion(t *testing.T) {
	for name, tt := range map[string]struct {
		bucket storage.Bucket
		far    bool
	}{
		"the region":           {storage.Bucket{Location: "US-CENTRAL1"}, false},
		"another one":          {storage.Bucket{Location: "EUROPE-WEST4"}, true},
		"the continent":        {storage.Bucket{Location: "US"}, false},
		"another continent":    {storage.Bucket{Location: "EU"}, true},
		"two regions":          {storage.Bucket{Location: "NAM4"}, false},
		"two other regions":    {storage.Bucket{Location: "EUR4"}, true},
		"two that are named":   {storage.Bucket{Location: "US", CustomPlacementConfig: &storage.BucketCustomPlacementConfig{DataLocations: []string{"US-CENTRAL1", "US-WEST1"}}}, false},
		"two others, by names": {storage.Bucket{Location: "US", CustomPlacementConfig: &storage.BucketCustomPlacementConfig{DataLocations: []string{"US-EAST1", "US-WEST1"}}}, true},
	} {
		w := newWorld(t)
		tt.bucket.Name = jobsBucket
		w.AddBucket("acme", &tt.bucket)
		var told string
		for _, d := range w.read(t)[infra.ID{Kind: infra.KindBucket, Name: jobsBucket}].Differences {
			if d.Setting == "location" {
				told = d.String()
			}
		}
		if (told != "") != tt.far || tt.far && !strings.HasSuffix(told, "now, us-central1 wanted; it can't be changed while it exists") {
			t.Errorf("%s: got %q", name, told)
		}
	}
	for region, want := range map[string]bool{"europe-west1": true, "europe-north1": true, "europe-west2": false, "europe-west6": false, "us-east1": false} {
		if got := near(&storage.Bucket{Location: "EU"}, region); got != want {
			t.Errorf("EU has its objects in %s: %t, want %t", region, got, want)
		}
	}
}

// ruled puts the bucket there with rules, as JSON.
func ruled(t *testing.T, w *world, rules string) {
	t.Helper()
	b := &storage.Bucket{Name: jobsBucket, Labels: gke.ResourceLabels(), IamConfiguration: security()}
	if err := json.Unmarshal([]byte(rules), &b.Lifecycle); err != nil {
		t.Fatal(err)
	}
	w.AddBucket("acme", b)
	w.SetLifecycle(jobsBucket, rules)
}

const (
	deletesAll = `{"action":{"type":"Delete"},"condition":{"age":30}}`
	live       = `{"action":{"type":"Delete"},"condition":{"age":365,"isLive":true}}`
	copies     = `{"action":{"type":"Delete"},"condition":{"numNewerVersions":3}}`
	class      = `{"action":{"storageClass":"NEARLINE","type":"SetStorageClass"},"condition":{"age":9}}`
	blobs      = `{"action":{"type":"Delete"},"condition":{"age":9,"matchesPrefix":["blobs/"]}}`
)

func TestRulesOfTheBucket(t *testing.T) {
	const both, liveOnly = `deletes blobs/, data/, pathways/ and warm/ after 30 days`, `, only {"isLive":true}`
	for name, tt := range map[string]struct {
		rules string
		plan  []string // the differences
		after string
	}{
		"none":         {``, []string{"lifecycle: nothing now, " + both + " wanted"}, `{"action":{"type":"Delete"},"condition":{"age":30,"matchesPrefix":["blobs/","data/","pathways/","warm/"]}}`},
		"for all":      {deletesAll, []string{"lifecycle: deletes everything after 30 days now, " + both + " wanted"}, strings.Replace(deletesAll, `30`, `30,"matchesPrefix":["blobs/","data/","pathways/","warm/"]`, 1)},
		"those of up":  {strings.Replace(deletesAll, `30`, `30,"matchesPrefix":["data/","blobs/","pathways/","warm/"]`, 1), nil, strings.Replace(deletesAll, `30`, `30,"matchesPrefix":["data/","blobs/","pathways/","warm/"]`, 1)},
		"other things": {copies + "," + class, []string{"lifecycle: nothing now, " + both + " wanted"}, copies + "," + class + `,{"action":{"type":"Delete"},"condition":{"age":30,"matchesPrefix":["blobs/","data/","pathways/","warm/"]}}`},
		"a part of it": {blobs, []string{"lifecycle: nothing now, deletes data/, pathways/ and warm/ after 30 days wanted"}, blobs + `,{"action":{"type":"Delete"},"condition":{"age":30,"matchesPrefix":["data/","pathways/","warm/"]}}`},
		"several for all": {class + "," + live + "," + copies + "," + deletesAll, []string{
			"lifecycle: deletes everything after 365 days" + liveOnly + " now, deletes blobs/, data/, pathways/ and warm/ after 365 days" + liveOnly + " wanted",
			"lifecycle: deletes everything after 30 days now, " + both + " wanted",
		}, class + "," + strings.Replace(live, `"isLive":true`, `"isLive":true,"matchesPrefix":["blobs/","data/","pathways/","warm/"]`, 1) + "," + copies + "," + strings.Replace(deletesAll, `30`, `30,"matchesPrefix":["blobs/","data/","pathways/","warm/"]`, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ruled(t, w, `{"rule":[`+tt.rules+`]}`)
			var plan []string
			for _, step := range infra.MakePlan(w.items, w.read(t), true) {
				for _, d := range step.Differences {
					plan = append(plan, d.String())
				}
			}
			if !slices.Equal(plan, tt.plan) {
				t.Errorf("the plan says %q, want %q", plan, tt.plan)
			}
			if err := w.up(t.Context(), true, quiet); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(w.Bucket(jobsBucket).Lifecycle)
			if want := `{"rule":[` + tt.after + `]}`; err != nil || string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// A rule that someone adds between the plan and the change is not in the plan.
func TestRulesThatChangeMeanwhile(t *testing.T) {
	w := newWorld(t)
	ruled(t, w, `{"rule":[`+deletesAll+`]}`)
	found := w.read(t)
	ruled(t, w, `{"rule":[`+deletesAll+","+live+`]}`)
	err := infra.Apply(t.Context(), w.list, found, infra.MakePlan(w.items, found, true), quiet)
	if want := "changing bucket acme-kn-research-jobs: its settings have changed since the plan was made: repeat the command"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := len(w.Bucket(jobsBucket).Lifecycle.Rule[0].Condition.MatchesPrefix); got != 0 {
		t.Error("the bucket was changed")
	}
}

// The bucket changes between reading and writing, in ways that don't matter.
func TestRulesWhileTheBucketChanges(t *testing.T) {
	for name, fault := range map[string]gcptest.Fault{
		"someone else": {Status: http.StatusPreconditionFailed}, "ours, and the answer is lost": {Lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ruled(t, w, `{"rule":[`+deletesAll+`]}`)
			fault.Method, fault.Path, fault.Times = http.MethodPatch, "/b/"+jobsBucket, 1
			w.Fail(fault)
			if err := w.up(t.Context(), true, quiet); err != nil {
				t.Fatal(err)
			}
			w.again(t).complete(t)
		})
	}
}

func TestRuleWithAnUnknownCondition(t *testing.T) {
	for _, condition := range []string{`"newToUs":1`, `"age":9,"newToUs":1`} {
		w := newWorld(t)
		ruled(t, w, `{"rule":[`+deletesAll+`,{"action":{"type":"Delete"},"condition":{`+condition+`}}]}`)
		err := w.up(t.Context(), true, quiet)
		if err == nil || !strings.Contains(err.Error(), "a condition that this version does not know") {
			t.Errorf("%s: got %v", condition, err)
		}
	}
}
