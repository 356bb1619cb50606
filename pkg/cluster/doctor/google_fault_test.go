package doctor

import (
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/api/artifactregistry/v1"
	container "google.golang.org/api/container/v1"
	"google.golang.org/api/storage/v1"

	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// equipped returns a project with a cluster, this bucket, a repository and an account that has no permissions.
func equipped(t *testing.T, bucket *storage.Bucket) *gcptest.Server {
	t.Helper()
	s := gcptest.New(t)
	s.SetProject("acme", func(p *gcptest.Project) {
		for _, name := range infracloud.APIs() {
			p.APIs[name] = true
		}
	})
	s.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "c", Status: "RUNNING",
		WorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: "acme.svc.id.goog"},
		NodePools:              []*container.NodePool{{Name: "l4", Status: "RUNNING", Config: &container.NodeConfig{MachineType: "g2-standard-4"}}}})
	s.SetQuota("us-central1", "NVIDIA_L4_GPUS", 1, 0)
	s.AddBucket("acme", bucket)
	s.AddRepository("projects/acme/locations/us/repositories/kn-c", &artifactregistry.Repository{Format: "DOCKER"})
	s.AddAccount("acme", "jobs")
	return s
}

// whole returns a project with all that jobs need.
func whole(t *testing.T) *gcptest.Server {
	t.Helper()
	s := equipped(t, &storage.Bucket{Name: "acme-kn-c-jobs"})
	s.Grant("projects/acme/serviceAccounts/jobs@acme.iam.gserviceaccount.com", "roles/iam.workloadIdentityUser", member)
	s.Grant("b/acme-kn-c-jobs", "roles/storage.objectUser", "serviceAccount:jobs@acme.iam.gserviceaccount.com")
	s.Grant("b/acme-kn-c-jobs", infracloud.BucketReader, "serviceAccount:jobs@acme.iam.gserviceaccount.com")
	return s
}

// results makes the checks, each within a time.
func results(t *testing.T, s *gcptest.Server, within time.Duration) []Result {
	t.Helper()
	all := checks(options(s.Env))
	for i := range all {
		all[i].Within = within
	}
	return Run(t.Context(), all)
}

// requests returns the requests that all checks make, with the pattern for a Fault.
func requests(t *testing.T) map[string]gcptest.Fault {
	t.Helper()
	s := whole(t)
	for _, r := range results(t, s, time.Minute) {
		if r.State != OK {
			t.Fatalf("%s is %s: %s", r.Name, r.State, r.Detail)
		}
	}
	faults := map[string]gcptest.Fault{}
	for _, call := range s.Calls() {
		faults[call.String()] = gcptest.Fault{Method: call.Method, Path: "^" + regexp.QuoteMeta(call.Service+"/"+call.Path) + "$"}
	}
	if len(faults) < 9 {
		t.Fatalf("only %d requests", len(faults))
	}
	return faults
}

func TestEachRequestToGoogleFailsOnce(t *testing.T) {
	all := requests(t)
	for name, how := range map[string]gcptest.Fault{"too many requests": {Status: http.StatusTooManyRequests}, "unavailable": {Status: http.StatusServiceUnavailable}, "lost": {Reset: true}} {
		t.Run(name, func(t *testing.T) {
			s := whole(t)
			for _, fault := range all {
				fault.Status, fault.Reset = how.Status, how.Reset
				s.Fail(fault)
			}
			for _, r := range results(t, s, time.Minute) {
				if r.State != OK {
					t.Errorf("%s is %s: %s", r.Name, r.State, r.Detail)
				}
			}
			made := map[string]int{}
			for _, call := range s.Calls() {
				made[call.String()]++
			}
			for call := range all {
				if made[call] < 2 {
					t.Errorf("%s was not made again", call)
				}
			}
		})
	}
}

// The check of a request that always fails says how, and the others don't notice.
func TestEachRequestToGoogleFails(t *testing.T) {
	all := requests(t)
	for text, how := range map[string]gcptest.Fault{
		"the service answered 500: ": {Status: http.StatusInternalServerError},
		"may not|no permission":      {Status: http.StatusForbidden},
	} {
		var running sync.WaitGroup // a check of an answer 500 takes all its time
		for call, fault := range all {
			running.Go(func() {
				s := whole(t)
				fault.Status, fault.Times = how.Status, 1000
				s.Fail(fault)
				told := slices.DeleteFunc(results(t, s, 10*time.Second), func(r Result) bool { return r.State == OK || r.Missing() != "" })
				if len(told) != 1 {
					t.Errorf("%s with %d: %d checks say it", call, how.Status, len(told))
				}
				for _, r := range told {
					if !regexp.MustCompile(text).MatchString(r.Detail) || how.Status == http.StatusInternalServerError && r.State != Wrong {
						t.Errorf("%s with %d: %s is %s: %s", call, how.Status, r.Name, r.State, r.Detail)
					}
				}
			})
		}
		running.Wait()
	}
}
