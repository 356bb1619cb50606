package gcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// A service answers about the project that is charged, which the credentials name.
func TestTheChargedProject(t *testing.T) {
	const off = "Kubernetes Engine API has not been used in project 123 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/container.googleapis.com/overview?project=123 then retry."
	body := func(code, reason, consumer string) string {
		return `{"error": {"code": ` + code + `, "message": "` + off + `", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "` + reason +
			`", "domain": "googleapis.com", "metadata": {"service": "container.googleapis.com", "consumer": "` + consumer + `"}}]}}`
	}
	older := `{"error": {"code": 403, "message": "` + off + `", "errors": [{"reason": "accessNotConfigured"}]}}`
	const (
		enable  = "the API container.googleapis.com is not enabled in project acme; enable it with: gcloud services enable container.googleapis.com --project acme"
		mend    = "change that with: export GOOGLE_CLOUD_QUOTA_PROJECT=acme"
		another = "the credentials charge project 123, and not acme: "
		unused  = "project acme doesn't exist, or admin@acme.iam.gserviceaccount.com may not use it: "
	)
	for name, tt := range map[string]struct {
		quota, number string // of the credentials, and of the project if it is known
		code          int
		body          string
		disabled      bool
		wants         []string
	}{
		"the number of nobody knows which":           {"", "", 403, body("403", "SERVICE_DISABLED", "projects/123"), true, []string{enable}},
		"the number of the project":                  {"", "123", 403, body("403", "SERVICE_DISABLED", "projects/123"), true, []string{enable}},
		"the number of another":                      {"", "5", 403, body("403", "SERVICE_DISABLED", "projects/123"), false, []string{another, mend}},
		"the number of another, in text":             {"", "5", 403, older, false, []string{another, mend}},
		"the project's ID":                           {"old", "", 403, body("403", "SERVICE_DISABLED", "projects/acme"), true, []string{enable}},
		"the ID of another":                          {"", "", 403, body("403", "SERVICE_DISABLED", "projects/old"), false, []string{"the credentials charge project old, and not acme: ", mend}},
		"the number of the quota project":            {"old", "", 403, body("403", "SERVICE_DISABLED", "projects/123"), false, []string{"the credentials charge project old, and not acme: ", mend}},
		"the project, and the quota project is fine": {"old", "123", 403, body("403", "SERVICE_DISABLED", "projects/123"), true, []string{enable}},
		"the project is also the quota project":      {"acme", "", 403, body("403", "SERVICE_DISABLED", "projects/123"), true, []string{enable}},
		"gcloud's own":                               {"", "", 403, body("403", "SERVICE_DISABLED", "projects/764086051850"), false, []string{"the credentials don't say which project to charge; set it with: export GOOGLE_CLOUD_QUOTA_PROJECT=acme"}},
		"the quota project may not be used":          {"old", "", 403, body("403", "USER_PROJECT_DENIED", "projects/old"), false, []string{"the credentials charge project old, and not acme: ", mend}},
		"the quota project is gone":                  {"old", "", 400, body("400", "USER_PROJECT_DENIED", "projects/project:old"), false, []string{"the credentials charge project old, and not acme: ", mend}},
		"the project is gone":                        {"acme", "", 400, body("400", "USER_PROJECT_DENIED", "projects/acme"), false, []string{unused}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{Server: gcptest.New(t)}
			if err := w.SetQuotaProject(tt.quota); err != nil {
				t.Fatal(err)
			}
			w.AddProject("old")
			w.connect(t)
			if got := w.access.QuotaProject(); got != tt.quota {
				t.Errorf("the quota project is %q", got)
			}
			if tt.number != "" {
				w.access.SetNumber("acme", tt.number)
			}
			w.Fail(gcptest.Fault{Method: http.MethodGet, Status: tt.code, Body: tt.body})
			err := w.clusters(t.Context())
			for _, want := range tt.wants {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
			if got := w.access.IsDisabled(err, "acme"); got != tt.disabled {
				t.Errorf("disabled: %v", got)
			}
			if got := w.access.ChargesOther(err, "acme"); got != strings.Contains(tt.wants[0], "the credentials") {
				t.Errorf("charges another project: %v", got)
			}
		})
	}
}

// The right to have requests charged to the project itself can be granted.
func TestTheProjectMayNotBeCharged(t *testing.T) {
	w := &world{Server: gcptest.New(t)}
	w.SetProject("acme", func(p *gcptest.Project) { p.Closed = true })
	if err := w.SetQuotaProject("acme"); err != nil {
		t.Fatal(err)
	}
	w.connect(t)
	err := w.clusters(t.Context())
	const want = "needs the permission serviceusage.services.use in project acme: "
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--role=roles/serviceusage.serviceUsageConsumer") {
		t.Errorf("got %v", err)
	}
}

func TestDisabledAPI(t *testing.T) {
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs = map[string]bool{} })
	if name, consumer := gcp.DisabledAPI(w.clusters(t.Context())); name != "container.googleapis.com" || consumer != "100000000000" {
		t.Errorf("got %q, %q", name, consumer)
	}
	w.Fail(gcptest.Fault{Status: http.StatusForbidden})
	if name, consumer := gcp.DisabledAPI(w.clusters(t.Context())); name != "" || consumer != "" {
		t.Errorf("of another refusal: %q, %q", name, consumer)
	}
}
