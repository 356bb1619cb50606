package doctor

import (
	"strings"
	"testing"

	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func TestQuotaProject(t *testing.T) {
	all := func(p *gcptest.Project) {
		for _, name := range infracloud.APIs() {
			p.APIs[name] = true
		}
	}
	for name, tt := range map[string]struct {
		quota   string
		prepare func(p *gcptest.Project)
		state   State
		detail  string
		breaks  bool // whether other checks need it
	}{
		"none":              {"", nil, OK, "the credentials name none", false},
		"the project":       {"acme", nil, OK, "acme", false},
		"one that works":    {"old", all, Skipped, "the credentials charge project old, not acme; to change that: export GOOGLE_CLOUD_QUOTA_PROJECT=acme", false},
		"one without GKE":   {"old", func(p *gcptest.Project) { all(p); delete(p.APIs, "container.googleapis.com") }, Wrong, "the credentials charge project old, and not acme: not enabled there: container.googleapis.com", true},
		"one of others":     {"old", func(p *gcptest.Project) { p.Closed = true }, Wrong, "the credentials charge project old, and not acme: Caller does not have", true},
		"one that was left": {"older", nil, Wrong, "the credentials charge project older, and not acme: Project 'project:older' not found or deleted", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcptest.New(t)
			s.SetProject("acme", all)
			s.AddProject("old")
			if tt.prepare != nil {
				s.SetProject("old", tt.prepare)
			}
			if err := s.SetQuotaProject(tt.quota); err != nil {
				t.Fatal(err)
			}
			results := run(t, options(s.Env))
			got := find(t, results, QuotaProjectCheck)
			if got.State != tt.state || !strings.Contains(got.Detail, tt.detail) || got.State == Wrong && got.Fix != "export GOOGLE_CLOUD_QUOTA_PROJECT=acme" {
				t.Errorf("got %+v", got)
			}
			// What is wrong is told once.
			if cluster := find(t, results, GKECheck); tt.breaks != strings.HasPrefix(cluster.Detail, "needs: ") {
				t.Errorf("of the cluster: %+v", cluster)
			}
		})
	}
}
