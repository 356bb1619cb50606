package google

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/artifactregistry/v1"
	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"
	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// A network of our name may be someone else's. The Python package leaves no mark on its own.
func TestForeignNetwork(t *testing.T) {
	python := map[string]string{"kinetic": "true", "goog-packaged-solution": "kinetic"}
	adopted := map[string]string{"kinetic": "true", "goog-packaged-solution": "kinetic", "kubectl-kinetic": "research"}
	ours := map[string]string{"kinetic": "true", "app-kubernetes-io-managed-by": "kubectl-kinetic", "kubectl-kinetic": "research"}
	for name, tt := range map[string]struct {
		description string
		cluster     map[string]string // its labels
		repository  map[string]string // its labels
		foreign     bool
	}{
		"ours":                             {"Network of cluster research, made by kubectl kinetic up", nil, nil, false},
		"without a cluster":                {"", nil, nil, true},
		"of the Python package":            {"", python, nil, false},
		"of the Python package, adopted":   {"", adopted, nil, false},
		"someone's, with a Python cluster": {"for research", python, nil, true},
		"someone's, with our cluster":      {"", ours, nil, true},
		"someone's, with a team's cluster": {"", map[string]string{"kinetic": "true", "team": "a"}, nil, true},
		"of the Python package, cut off":   {"", nil, python, false},
		"someone's, with its repository":   {"for research", nil, python, true},
		"someone's, and our repository":    {"", nil, ours, true},
		"of the Python package, then ours": {"", ours, python, false},
		"a team's, and its repository":     {"", map[string]string{"team": "a"}, python, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.SetProject("acme", func(p *gcptest.Project) {
				p.APIs["container.googleapis.com"], p.APIs["compute.googleapis.com"] = true, true
			})
			w.AddNetwork("acme", &compute.Network{Name: "kn-research", Description: tt.description, AutoCreateSubnetworks: true})
			if tt.repository != nil {
				w.SetProject("acme", func(p *gcptest.Project) { p.APIs["artifactregistry.googleapis.com"] = true })
				w.AddRepository(registered, &artifactregistry.Repository{Format: "DOCKER", Labels: tt.repository})
			}
			if tt.cluster != nil {
				w.AddCluster("acme", zone, &container.Cluster{Name: "research", ResourceLabels: tt.cluster})
			}
			s, err := network{w.project, infra.ID{Kind: infra.KindNetwork, Name: "kn-research"}}.Get(t.Context())
			if err != nil || !s.Exists || s.Foreign != tt.foreign {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}

const (
	builds     = "acme-kn-research-builds"
	registered = "projects/acme/locations/us/repositories/kn-research"
)

// foreign returns a project with things of someone else that have our names.
func foreign(t *testing.T) *world {
	t.Helper()
	labels := map[string]string{"kinetic": "true", "team": "a"}
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) {
		for _, name := range APIs() {
			p.APIs[name] = true
		}
	})
	w.AddBucket("acme", &storage.Bucket{Name: jobsBucket, Labels: labels})
	w.AddBucket("acme", &storage.Bucket{Name: builds})
	w.AddRepository(registered, &artifactregistry.Repository{Format: "DOCKER", Labels: labels})
	w.AddAccount("acme", "kn-research-nodes")
	return w
}

// Whatever has one of our names but no mark of ours stays when the cluster goes.
func TestForeignInTheProject(t *testing.T) {
	w := foreign(t)
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	d := connect(t, w.Server, infra.Wanted{Names: names, DeleteData: true})
	found := d.read(t)
	var foreign []string
	for _, item := range d.items {
		if found[item.ID].Foreign {
			foreign = append(foreign, item.ID.String())
		}
	}
	if want := []string{"service account kn-research-nodes", "repository kn-research", "bucket " + jobsBucket, "bucket " + builds}; !slices.Equal(foreign, want) {
		t.Errorf("not made by up: %q, want %q", foreign, want)
	}
	plan := infra.PlanRemoval(d.items, found, true) // --force is not about them
	if err := infra.Remove(t.Context(), d.list, plan, quiet); err != nil {
		t.Fatal(err)
	}
	var words strings.Builder
	if err := plan.Write(&words); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"gcloud iam service-accounts delete " + nodesEmail + " --project=acme",
		"gcloud artifacts repositories delete kn-research --location=us --project=acme",
		"gcloud storage rm --recursive gs://" + jobsBucket,
	} {
		if !strings.Contains(words.String(), "stays: not made by `kubectl kinetic up`; delete it with: "+want+"\n") {
			t.Errorf("no %q in:\n%s", want, words.String())
		}
	}
	if w.Bucket(jobsBucket) == nil || w.Bucket(builds) == nil || w.Repository(registered) == nil || !w.HasAccount(nodesEmail) {
		t.Error("something is gone that up has not made")
	}
	if !w.HasRole("projects/acme", "roles/container.defaultNodeServiceAccount", "serviceAccount:"+nodesEmail) {
		t.Error("an account that up has not made lost its role")
	}
	if w.HasAccount(jobsEmail) || w.Cluster("acme", zone, "research") != nil {
		t.Error("something is still there that up has made")
	}
}

// Their settings stay, too: lifecycle rules and cleanup policies delete things.
func TestReconcileLeavesWhatOthersHaveMade(t *testing.T) {
	w := foreign(t)
	w.AddCluster("acme", zone, &container.Cluster{Name: "research", WorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: names.IdentityPool()}})
	if err := w.up(t.Context(), true, quiet); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{jobsBucket, builds} {
		if b := w.Bucket(name); b.Lifecycle != nil || b.IamConfiguration != nil {
			t.Errorf("bucket %s was changed: %+v, %+v", name, b.Lifecycle, b.IamConfiguration)
		}
	}
	if got := w.Repository(registered).CleanupPolicies; len(got) > 0 {
		t.Errorf("the repository was changed: %v", got)
	}
	if c := w.Cluster("acme", zone, "research"); c.AddonsConfig != nil {
		t.Errorf("the cluster was changed: %+v", c.AddonsConfig)
	}
	var words strings.Builder
	plan := infra.MakePlan(w.items, w.read(t), true)
	if err := plan.Write(&words); err != nil || plan.Count(infra.Change) > 0 {
		t.Errorf("%d to change, %v", plan.Count(infra.Change), err)
	}
	for _, want := range []string{
		"lifecycle: nothing now, deletes everything after 30 days wanted; `up` does not change it; change it with: gcloud storage buckets update gs://" + builds + " --lifecycle-file=FILE",
		"change it with: gcloud storage buckets update gs://" + jobsBucket + " --uniform-bucket-level-access",
		"change it with: gcloud artifacts repositories set-cleanup-policies kn-research --location=us --project=acme --policy=FILE",
		"change it with: gcloud container clusters update research --location=us-central1-a --project=acme --update-addons=GcsFuseCsiDriver=ENABLED",
	} {
		if !strings.Contains(words.String(), want) {
			t.Errorf("no %q in:\n%s", want, words.String())
		}
	}
}
