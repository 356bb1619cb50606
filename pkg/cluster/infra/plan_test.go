package infra

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestPlan(t *testing.T) {
	bucket, cluster := one(KindBucket, "acme-kn-research-jobs"), one(KindCluster, "research")
	nodes, apis := one(KindAccount, "kn-research-nodes"), one(KindAPIs, "acme")
	var items []Item
	for _, id := range []ID{apis, nodes, bucket, cluster, one(KindNetwork, "kn-research"), one(KindRouter, "kn-research-router"), one(KindPolicies, "research")} {
		items = append(items, Item{ID: id})
	}
	found := States{
		apis: {Exists: true, Missing: []string{"container.googleapis.com"}}, nodes: {Exists: true},
		bucket:      {Exists: true, Differences: []Difference{{Setting: "lifecycle", Have: "delete everything after 30 days"}}},
		cluster:     {Exists: true, Differences: []Difference{{Setting: "network", Have: "default", Want: "kn-research", Fixed: true}}},
		items[4].ID: {Exists: true, Pending: true}, items[5].ID: {Detail: "with NAT"},
		items[6].ID: {Exists: true, Missing: []string{"2x4", "4x4", "4x8", "8x8"}},
	}
	plan := MakePlan(items, found, false)
	var words strings.Builder
	if err := plan.Write(&words); err != nil {
		t.Fatal(err)
	}
	want := `+ APIs of project acme: add container.googleapis.com
= service account kn-research-nodes
~ bucket acme-kn-research-jobs
    lifecycle: delete everything after 30 days now, nothing wanted
~ cluster research
    network: default now, kn-research wanted; it can't be changed while it exists
+ network kn-research: is being created
+ router kn-research-router: with NAT
+ placement policies of cluster research: add these 4
    2x4
    4x4
    4x8
    8x8
`
	if words.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", words.String(), want)
	}
	if plan.Work() != 4 || plan.Count(Differs) != 2 {
		t.Errorf("%d to do, %d differ", plan.Work(), plan.Count(Differs))
	}
	actions := func(p Plan) (all []Action) {
		for _, s := range p {
			all = append(all, s.Action)
		}
		return all
	}
	if got := actions(MakePlan(items, found, true)); !slices.Equal(got, []Action{Complete, Fine, Change, Differs, Wait, Create, Complete}) {
		t.Errorf("to reconcile: %v", got)
	}
}

func TestPlanAsJSON(t *testing.T) {
	text, err := json.Marshal(MakePlan([]Item{{ID: one(KindBucket, "b")}}, States{}, false))
	if want := `[{"resource":{"kind":"bucket","name":"b"},"action":"create"}]`; err != nil || string(text) != want {
		t.Errorf("got %s (%v), want %s", text, err, want)
	}
}

func TestListIsInOrder(t *testing.T) {
	autopilot := wanted()
	autopilot.Autopilot = true
	for name, w := range map[string]Wanted{"standard": wanted(), "Autopilot": autopilot} {
		seen := map[ID]bool{}
		for _, item := range List(w) {
			for _, before := range item.before() {
				if !seen[before] {
					t.Errorf("%s: %s comes before %s, which it needs", name, item.ID, before)
				}
			}
			if seen[item.ID] {
				t.Errorf("%s: %s is there twice", name, item.ID)
			}
			seen[item.ID] = true
			if item.ID.Kind == KindPool && w.Autopilot {
				t.Errorf("%s: there is %s", name, item.ID)
			}
		}
	}
}

// Every cluster has the namespace default: it is not created, and nothing waits for it.
func TestListHasNoDefaultNamespace(t *testing.T) {
	w := wanted()
	w.Names.Namespace = "default"
	seen := map[ID]bool{}
	for _, item := range List(w) {
		seen[item.ID] = true
		for _, before := range item.before() {
			if !seen[before] {
				t.Errorf("%s comes before %s, which it needs", item.ID, before)
			}
		}
	}
	if seen[one(KindNamespace, "default")] || !seen[one(KindRBAC, "default")] {
		t.Errorf("the list has %v", seen)
	}
}
