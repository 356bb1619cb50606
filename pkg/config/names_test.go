package config

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	n := Names{Project: "acme", Zone: "us-central1-a", Cluster: "research", Namespace: "ml"}
	for _, name := range []struct{ got, want string }{
		{n.Network(), "kn-research"},
		{n.Router(), "kn-research-router"},
		{n.NAT(), "kn-research-nat"},
		{n.Repository(), "kn-research"},
		{n.Jobs(), "acme-kn-research-jobs"},
		{n.Builds(), "acme-kn-research-builds"},
		{n.Pulumi(), "acme-kinetic-state"},
		{n.Account(NodesAccount), "kn-research-nodes"},
		{n.Email(JobsAccount), "kn-research-jobs@acme.iam.gserviceaccount.com"},
		{n.Identity(), "serviceAccount:acme.svc.id.goog[ml/kinetic]"},
		{n.Context(), "gke_acme_us-central1-a_research"},
		{n.Region(), "us-central1"},
		{n.Images(), "us"},
		{Names{Zone: "me-west1-b"}.Images(), "me-west1"},
		{Names{Zone: "europe-west4"}.Images(), "europe"},
		{Names{Project: "example.com:lab", Cluster: "c"}.Email("jobs"), "kn-c-jobs@lab.example.com.iam.gserviceaccount.com"},
	} {
		if name.got != name.want {
			t.Errorf("got %s, want %s", name.got, name.want)
		}
	}
}

func TestLongAccountsDiffer(t *testing.T) {
	a := Names{Cluster: "a-cluster-with-a-very-long-name-one"}.Account(BuildsAccount)
	b := Names{Cluster: "a-cluster-with-a-very-long-name-two"}.Account(BuildsAccount)
	if a == b || len(a) > maxAccount || !strings.HasPrefix(a, "kn-a-cluster") || !strings.HasSuffix(a, "-builds") {
		t.Errorf("got %s and %s", a, b)
	}
	if exact := (Names{Cluster: strings.Repeat("c", 20)}).Account(BuildsAccount); exact != "kn-"+strings.Repeat("c", 20)+"-builds" {
		t.Errorf("an ID of 30 characters was cut: %s", exact)
	}
}

func TestCheckNames(t *testing.T) {
	for cluster, want := range map[string]string{
		"research": "", "c": "", "Research": "--cluster \"Research\": expected", "9": "expected at most 40", "a-": "not ending with",
		strings.Repeat("c", 41): "at most 40",
		strings.Repeat("c", 40): "use a name with at most 22 characters",
	} {
		err := Names{Project: strings.Repeat("p", 30), Cluster: cluster}.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", cluster, err, want)
		}
	}
	if err := (Names{Project: "example.com:lab", Cluster: "c"}).Check(); err == nil {
		t.Error("a project in a domain is accepted")
	}
}
