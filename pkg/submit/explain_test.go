package submit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/pack"
	"github.com/kubectl-kinetic/kinetic/pkg/target"
)

// elsewhere is a job of a cluster that is not known to be one of GKE.
func elsewhere() Planned {
	return Planned{
		Spec: api.Spec{ID: "cpu-train-1", Backend: api.BackendGKE, Namespace: "ml", Project: "p", Zone: "us-central1-a", Cluster: "kinetic-cluster",
			Accelerator: api.Accelerator{Kind: api.CPU, Name: "cpu", Hosts: 1}, Hosts: 1, Slices: 1, Image: "i", Store: "gs://b", CPU: "1", Memory: "2Gi"},
		Target: target.Target{Context: "kind-dev", From: target.Sources{Context: "current context"}},
		Files:  &pack.Plan{},
	}
}

func TestSentences(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Planned)
		want   string
	}{
		"a cluster of no name": {func(*Planned) {}, "cluster      that of context kind-dev, which is not known to be one of GKE\n"},
		"a cluster without a context": {func(p *Planned) { p.Target = target.Target{From: target.Sources{Context: "--server"}} },
			"cluster      that of --server, which is not known to be one of GKE\n"},
		"a cluster of GKE":     {func(p *Planned) { p.Target.GKE = true }, "cluster      kinetic-cluster (project p, zone us-central1-a, context kind-dev)\n"},
		"what a host asks for": {func(*Planned) {}, "asks for     cpu 1, memory 2Gi\n"},
		"a limit of memory":    {func(p *Planned) { p.Spec.MemoryLimit = "2Gi" }, "asks for     cpu 1, memory 2Gi at most\n"},
		"memory alone":         {func(p *Planned) { p.Spec.CPU = "" }, "asks for     memory 2Gi\n"},
		"environment": {func(p *Planned) {
			p.Spec.Env = []api.EnvVar{{Name: "B", Value: "hidden"}, {Name: "A"}}
			p.Spec.SecretEnv = []string{"TOKEN"}
		}, "environment  B, A, TOKEN (secret)\n"},
		"environment of a local job": {func(p *Planned) {
			p.Spec.Backend, p.Spec.Env = api.BackendLocal, []api.EnvVar{{Name: "A"}}
		}, "environment  A\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := elsewhere()
			tt.change(&p)
			got := p.Explain().Sentences(func(int64) string { return "" })
			if !strings.Contains(got, tt.want) || strings.Contains(got, "hidden") {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
	bare := elsewhere()
	bare.Spec.CPU, bare.Spec.Memory = "", ""
	if got := bare.Explain().Sentences(func(int64) string { return "" }); strings.Contains(got, "asks for") || strings.Contains(got, "environment") {
		t.Errorf("lines about nothing:\n%s", got)
	}
}

func TestExplanationAsJSON(t *testing.T) {
	p := elsewhere()
	p.Spec.Env, p.Spec.SecretEnv = []api.EnvVar{{Name: "A", Value: "hidden"}}, []string{"TOKEN"}
	data, err := json.Marshal(p.Explain())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"target":{"project":"p","zone":null,"cluster":null,"context":"kind-dev",`,
		`"cpu":"1","memory":"2Gi","env":["A"],"secretEnv":["TOKEN"],"map":null}`,
	} {
		if !strings.Contains(string(data), want) || strings.Contains(string(data), "hidden") {
			t.Errorf("got %s, want %s in it", data, want)
		}
	}
}
