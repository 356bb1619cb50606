package stack_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

const (
	readsCluster = "^container/v1/projects/acme/locations/us-central1-a/clusters/research$"
	listsAll     = "^container/v1/projects/acme/locations/-/clusters$"
)

// refusal is an answer with google.rpc.ErrorInfo, as services give it.
func refusal(code int, message, reason, consumer string) string {
	metadata := `"service": "container.googleapis.com"`
	if consumer != "" {
		metadata += fmt.Sprintf(`, "consumer": %q`, consumer)
	}
	return fmt.Sprintf(`{"error": {"code": %d, "message": %q, "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": %q, "domain": "googleapis.com", "metadata": {%s}}]}}`,
		code, message, reason, metadata)
}

// Whatever is answered instead of the cluster, what it needs stays, unless GKE says that there is none. The
// same answer to the list of all clusters makes no difference.
func TestDownDeletesNothingAfterAWrongAnswer(t *testing.T) {
	const off = "Kubernetes Engine API has not been used in project 5 before or it is disabled."
	for name, answer := range map[string]gcptest.Fault{
		"GKE is off in another project":             {Status: 403, Body: refusal(403, off, "SERVICE_DISABLED", "projects/5")},
		"GKE is off in another, by its ID":          {Status: 403, Body: refusal(403, off, "SERVICE_DISABLED", "projects/old")},
		"GKE is off in that of gcloud":              {Status: 403, Body: refusal(403, off, "SERVICE_DISABLED", "projects/764086051850")},
		"GKE is off nobody knows where":             {Status: 403, Body: refusal(403, "It is disabled.", "SERVICE_DISABLED", "")},
		"GKE is off here, and Service Usage denies": {Status: 403, Body: refusal(403, off, "SERVICE_DISABLED", "projects/100000000000")},
		"GKE is off, in the older form":             {Status: 403, Body: `{"error": {"code": 403, "message": "` + off + `", "errors": [{"reason": "accessNotConfigured"}]}}`},
		"the charged project may not be used":       {Status: 403, Body: refusal(403, "Caller does not have required permission to use project old.", "USER_PROJECT_DENIED", "projects/old")},
		"the charged project doesn't exist":         {Status: 400, Body: refusal(400, "Project 'project:old' not found or deleted.", "USER_PROJECT_DENIED", "projects/old")},
		"the project may not be used":               {Status: 403, Body: refusal(403, "Permission denied on resource project acme.", "CONSUMER_INVALID", "projects/acme")},
		"a permission is missing":                   {Status: 403, Body: refusal(403, `Required "container.clusters.get" permission(s) for "projects/acme".`, "IAM_PERMISSION_DENIED", "")},
		"no billing":                                {Status: 403, Body: refusal(403, "This API method requires billing to be enabled.", "BILLING_DISABLED", "projects/5")},
		"the credentials are refused":               {Status: 401},
		"a bad request":                             {Status: 400, Message: `Location "us-central1-a" does not exist.`},
		"a conflict":                                {Status: 409},
		"too many requests":                         {Status: 429, RetryAfter: "300"},
		"a service that is away":                    {Status: 503, RetryAfter: "300"},
		"a page that is not found":                  {Status: 404, Body: "<html>Not found: projects/acme/locations/us-central1-a/clusters/research</html>"},
		"no page":                                   {Status: 404, Body: " "},
		"a method that is not found":                {Status: 404, Message: "Method not found."},
		"a project that is not found":               {Status: 404, Message: "Not found: projects/acme."},
		"another cluster that is not found":         {Status: 404, Message: "Not found: projects/acme/locations/us-central1-a/clusters/research-2."},
		"a redirect":                                {Status: 302, Body: "<html>Log in first</html>"},
		"a page":                                    {Status: 200, Body: "<html>Log in first</html>"},
		"nothing":                                   {Status: 200, Body: "{}"},
		"another cluster":                           {Status: 200, Body: `{"name": "other", "status": "RUNNING"}`},
	} {
		for _, path := range []string{readsCluster, readsCluster + "|" + listsAll} {
			t.Run(name+" for "+path, func(t *testing.T) {
				w := newWorld(t)
				w.up(t, "--yes").check(t, 0)
				before := len(w.Changes())
				answer.Method, answer.Path, answer.Times = http.MethodGet, path, 1000
				w.Fail(answer)
				r := w.down(t, "--yes=research", "--delete-data", "--force")
				r.check(t, 1, "error: ")
				w.unchanged(t, before)
				if strings.Contains(r.err, "there is nothing to delete") {
					t.Errorf("it is said that there is nothing:\n%s", r.err)
				}
			})
		}
	}
}

// A cluster that GKE lists is there, whatever it says of that cluster itself.
func TestDownDeletesNothingWhenGKEContradictsItself(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	before := len(w.Changes())
	w.Fail(gcptest.Fault{Method: http.MethodGet, Path: readsCluster, Times: 1000, Status: 404, Message: "Not found: projects/acme/locations/us-central1-a/clusters/research."})
	w.down(t, "--yes=research", "--force").check(t, 1, "GKE lists cluster research in us-central1-a of project acme, but reports it as not found when it is read: nothing was deleted; repeat this command")
	w.unchanged(t, before)
}

// What is left after a cluster is deleted, also when its API is off again.
func TestDownWithoutGKE(t *testing.T) {
	for name, number := range map[string]bool{"by number": true, "by ID": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.FailOperation(gcptest.OperationFault{Kind: "CREATE_CLUSTER", Error: &gcptest.Error{Code: 500, Message: "Internal error."}})
			w.up(t, "--yes").check(t, 1)
			w.RemoveCluster("acme", zone, "research")
			w.SetProject("acme", func(p *gcptest.Project) { p.APIs["container.googleapis.com"] = false })
			if !number {
				w.Fail(gcptest.Fault{Path: "^container/", Times: 1000, Status: 403, Body: refusal(403, "It is disabled.", "SERVICE_DISABLED", "projects/acme")})
			}
			w.down(t, "--yes=research").check(t, 0, "deleted     network kn-research")
			if w.Network("acme", "kn-research") != nil {
				t.Error("the network is still there")
			}
		})
	}
}

// Credentials of gcloud name a project that is charged for their requests, and GKE looks there whether it is
// enabled. No command takes that for an answer about its own project.
func TestAnotherProjectIsCharged(t *testing.T) {
	for name, tt := range map[string]struct {
		quota func(p *gcptest.Project)
		want  string
	}{
		"without GKE":     {func(p *gcptest.Project) { p.APIs["container.googleapis.com"] = false }, "the credentials charge project old, and not acme: container.googleapis.com has not been used in project old before or it is disabled"},
		"without any API": {func(p *gcptest.Project) { clear(p.APIs) }, "the credentials charge project old, and not acme: "},
		"of someone else": {func(p *gcptest.Project) { p.Closed = true }, "the credentials charge project old, and not acme: Caller does not have required permission to use project old."},
		"that is deleted": {nil, "the credentials charge project old, and not acme: Project 'project:old' not found or deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.up(t, "--yes").check(t, 0)
			before := len(w.Changes())
			if tt.quota != nil {
				w.AddProject("old")
				w.SetProject("old", tt.quota)
			}
			if err := w.SetQuotaProject("old"); err != nil {
				t.Fatal(err)
			}
			w.down(t, "--yes=research", "--delete-data", "--force").check(t, 1, tt.want, "change that with: export GOOGLE_CLOUD_QUOTA_PROJECT=acme")
			w.up(t, "--yes").check(t, 1, tt.want)
			w.status(t).check(t, 1, tt.want)
			w.unchanged(t, before)
			// The file that gcloud writes is changed with gcloud.
			home := t.TempDir()
			if err := w.Login(home); err != nil {
				t.Fatal(err)
			}
			t.Setenv("HOME", home)
			t.Setenv("APPDATA", filepath.Join(home, ".config"))
			t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
			w.down(t, "--yes=research").check(t, 1, "change that with: gcloud auth application-default set-quota-project acme")
			t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "acme")
			w.down(t, "--yes=research").check(t, 0, "deleted     cluster research")
		})
	}
}
