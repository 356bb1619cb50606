package gke_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// iron returns the plan of a pool that needs a resource policy.
func iron(t *testing.T, c gke.Cluster) gke.Planned {
	t.Helper()
	return plan(t, parse(t, "tpu7x-2x2x2"), gke.Options{Cluster: c})
}

// policy returns the resource policy that a pool names.
func (w *world) policy(p *container.NodePool) *compute.ResourcePolicy {
	return w.ResourcePolicy(theCluster.Project, "us-central1", p.PlacementPolicy.PolicyName)
}

// Resource policies are those of a region, and pools of one shape have the same name in all clusters.
func TestClustersShareNoPolicy(t *testing.T) {
	w := newWorld(t)
	second := gke.Cluster{Project: "acme", Location: "us-central1-b", Name: "main"}
	w.AddCluster("acme", second.Location, &container.Cluster{Name: second.Name})
	other, err := gke.New(t.Context(), w.access, second)
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := iron(t, theCluster), iron(t, second)
	if _, err := w.Create(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Delete(t.Context(), mine.Pool.Name); err != nil {
		t.Fatal(err)
	}
	if w.policy(mine.Pool) != nil || w.policy(theirs.Pool) == nil {
		t.Errorf("the policies are %v and %v", w.policy(mine.Pool), w.policy(theirs.Pool))
	}
}

func TestCreateRefusesAnotherPolicy(t *testing.T) {
	for want, change := range map[string]func(*compute.ResourcePolicy){
		"a policy of this name exists, and it was not made for this cluster; choose another --name": func(p *compute.ResourcePolicy) { p.Description = "of our team" },
		"a policy of this name exists, and it is for another topology; choose another --name":       func(p *compute.ResourcePolicy) { p.WorkloadPolicy.AcceleratorTopology = "2x2x4" },
	} {
		w := newWorld(t)
		taken := iron(t, theCluster).Policy
		change(taken)
		w.AddPolicy("acme", "us-central1", taken)
		p := iron(t, theCluster)
		_, err := w.Create(t.Context(), p)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "gcloud compute resource-policies delete "+taken.Name+" --region=us-central1 --project=acme") {
			t.Errorf("got %v, want %s", err, want)
		}
		if w.pool(p.Pool.Name) != nil {
			t.Error("the pool was made")
		}
	}
}

// A pool that exists keeps its policy, which had another name in earlier versions.
func TestCreateAgainMakesNoPolicy(t *testing.T) {
	w := newWorld(t)
	older := iron(t, theCluster)
	older.Policy.Name, older.Pool.PlacementPolicy.PolicyName = older.Pool.Name, older.Pool.Name
	if _, err := w.Create(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	if outcome, err := w.Create(t.Context(), iron(t, theCluster)); err != nil || outcome != gke.Unchanged {
		t.Errorf("got %s, %v", outcome, err)
	}
	if got := w.policy(iron(t, theCluster).Pool); got != nil {
		t.Errorf("there is a policy %s", got.Name)
	}
}

// Only the policy that the pool names goes, and only if it was made for this cluster alone.
func TestDeleteAnOlderPolicy(t *testing.T) {
	user := &container.NodePool{Name: "iron", PlacementPolicy: &container.PlacementPolicy{PolicyName: "iron"}}
	for name, tt := range map[string]struct {
		description string
		clusters    []*container.Cluster
		stays       bool
	}{
		"of this cluster":                    {gke.PolicyDescription(theCluster), nil, false},
		"of the Python package or a team":    {"", nil, true},
		"used by another cluster":            {gke.PolicyDescription(theCluster), []*container.Cluster{{Name: "second", Location: "us-central1-b", NodePools: []*container.NodePool{user}}}, true},
		"of the same name in another region": {gke.PolicyDescription(theCluster), []*container.Cluster{{Name: "second", Location: "us-east5", NodePools: []*container.NodePool{user}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := plan(t, parse(t, "tpu7x-2x2x2"), gke.Options{Cluster: theCluster, Name: "iron"})
			p.Policy.Name, p.Pool.PlacementPolicy.PolicyName = "iron", "iron"
			if _, err := w.Create(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			w.policy(p.Pool).Description = tt.description
			for _, c := range tt.clusters {
				w.AddCluster("acme", c.Location, c)
			}
			if outcome, err := w.Delete(t.Context(), "iron"); err != nil || outcome != gke.Removed {
				t.Errorf("got %s, %v", outcome, err)
			}
			if stays := w.policy(p.Pool) != nil; stays != tt.stays {
				t.Errorf("it stays: %v", stays)
			}
		})
	}
}

// A removal that was cut off after the pool was gone is repeated.
func TestDeleteDeletesALeftoverPolicy(t *testing.T) {
	w := newWorld(t)
	p := iron(t, theCluster)
	if _, err := w.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.Fail(gcptest.Fault{Method: http.MethodDelete, Path: "resourcePolicies", Status: http.StatusTeapot})
	if _, err := w.Delete(t.Context(), p.Pool.Name); err == nil || w.pool(p.Pool.Name) != nil || w.policy(p.Pool) == nil {
		t.Fatalf("got %v", err)
	}
	if left, err := w.HasLeft(t.Context(), p.Pool.Name); err != nil || !left {
		t.Errorf("nothing is left: %v", err)
	}
	for _, want := range []gke.Outcome{gke.Removed, gke.Unchanged} {
		if outcome, err := w.Delete(t.Context(), p.Pool.Name); err != nil || outcome != want {
			t.Errorf("got %s, %v, want %s", outcome, err, want)
		}
	}
	if left, err := w.HasLeft(t.Context(), p.Pool.Name); err != nil || left || w.policy(p.Pool) != nil {
		t.Errorf("something is left: %v", err)
	}
}

// Someone may have added the pool again after it was seen that only its policy is left.
func TestDeleteLeftKeepsAPool(t *testing.T) {
	w := newWorld(t)
	p := iron(t, theCluster)
	if _, err := w.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if outcome, err := w.DeleteLeft(t.Context(), p.Pool.Name); err != nil || outcome != gke.Unchanged || w.pool(p.Pool.Name) == nil || w.policy(p.Pool) == nil {
		t.Errorf("got %s, %v", outcome, err)
	}
}

// Whether another cluster uses the policy must be known.
func TestDeleteKeepsThePolicyInDoubt(t *testing.T) {
	w := newWorld(t)
	p := iron(t, theCluster)
	if _, err := w.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []gcptest.Fault{{Status: http.StatusForbidden}, {Status: http.StatusOK, Body: `{"missingZones": ["us-central1-b"]}`}} {
		fault.Path = "locations/-/clusters$"
		w.Fail(fault)
		if _, err := w.Delete(t.Context(), p.Pool.Name); err == nil || w.policy(p.Pool) == nil {
			t.Errorf("got %v, and the policy is %v", err, w.policy(p.Pool))
		}
	}
	if slices.ContainsFunc(w.Changes(), func(c string) bool { return strings.HasPrefix(c, "DELETE compute/") }) {
		t.Errorf("made %q", w.Changes())
	}
}
