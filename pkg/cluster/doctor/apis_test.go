package doctor

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// A check that needs an API that is off says so, unless the check of the APIs does.
func TestAPIsThatAreOff(t *testing.T) {
	enable := func(names ...string) string {
		return "gcloud services enable " + strings.Join(names, " ") + " --project acme"
	}
	const storage, registry = "storage.googleapis.com", "artifactregistry.googleapis.com"
	off := func(s *gcptest.Server, names ...string) {
		for _, name := range names {
			short, _, _ := strings.Cut(name, ".")
			s.Fail(gcptest.Fault{Path: "^" + short + "/", Times: 1000, Status: http.StatusForbidden, Body: disabled(short)})
		}
	}
	for name, tt := range map[string]struct {
		set   func(*gcptest.Server)
		fixes map[string]string // of what is wrong
		needs []string          // the checks that need the APIs
	}{
		"the APIs are known": {func(s *gcptest.Server) {
			off(s, storage, registry)
			s.SetProject("acme", func(p *gcptest.Project) {
				maps.DeleteFunc(p.APIs, func(name string, _ bool) bool { return name == storage || name == registry })
			})
		}, map[string]string{APIsCheck: enable(registry, storage)}, []string{StoreCheck, "lifecycle", "Workload Identity", imageCheck}},
		"the APIs are secret": {func(s *gcptest.Server) {
			off(s, storage, registry)
			s.Deny("serviceusage.services.get")
		}, map[string]string{StoreCheck: enable(storage), "lifecycle": enable(storage), "Workload Identity": enable(storage), imageCheck: enable(registry)}, nil},
		"one was just enabled": {func(s *gcptest.Server) { off(s, registry) }, map[string]string{imageCheck: enable(registry)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := whole(t)
			tt.set(s)
			fixes := map[string]string{}
			var needs []string
			for _, r := range results(t, s, time.Minute) {
				if r.State == Wrong {
					fixes[r.Name] = r.Fix
				}
				if r.Missing() == APIsCheck {
					needs = append(needs, r.Name)
				}
			}
			if diff := cmp.Diff(tt.fixes, fixes); diff != "" {
				t.Errorf("what is wrong (-want +got):\n%s", diff)
			}
			if !slices.Equal(needs, tt.needs) {
				t.Errorf("%q need the APIs, want %q", needs, tt.needs)
			}
		})
	}
}
