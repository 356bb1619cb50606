package cloudbuild_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
)

// refuses is an answer as Google's services give it.
func refuses(t *testing.T, code codes.Code, text, reason string, metadata map[string]string) error {
	t.Helper()
	s := status.New(code, text)
	if reason != "" {
		var err error
		if s, err = s.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "googleapis.com", Metadata: metadata}); err != nil {
			t.Fatal(err)
		}
	}
	return s.Err()
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	const denied = codes.PermissionDenied
	for name, tt := range map[string]struct {
		answer error
		user   string
		want   string
	}{
		"charged elsewhere, API disabled": {refuses(t, denied, "Cloud Build API has not been used in project 2 before or it is disabled.", "SERVICE_DISABLED", map[string]string{"service": "cloudbuild.googleapis.com", "consumer": "projects/2"}), "charged elsewhere",
			"the credentials charge project old, and not acme: Cloud Build API has not been used in project 2 before or it is disabled.; change that with: gcloud auth application-default set-quota-project acme"},
		"charged elsewhere, no right": {refuses(t, denied, "Caller does not have required permission to use project old.", "USER_PROJECT_DENIED", map[string]string{"consumer": "projects/old"}), "charged elsewhere",
			"the credentials charge project old, and not acme: Caller does not have required permission to use project old.; change that with: "},
		"API disabled": {refuses(t, denied, "Cloud Build API has not been used in project 1 before or it is disabled.", "SERVICE_DISABLED", map[string]string{"service": "cloudbuild.googleapis.com", "consumer": "projects/1"}), "",
			"the API cloudbuild.googleapis.com is not enabled in project acme; enable it with: gcloud services enable cloudbuild.googleapis.com --project acme"},
		"no quota project": {refuses(t, denied, "The cloudbuild.googleapis.com API requires a quota project, which is not set by default.", "SERVICE_DISABLED", map[string]string{"service": "cloudbuild.googleapis.com", "consumer": "projects/764086051850"}), "",
			"the credentials have no quota project to charge; set one with: gcloud auth application-default set-quota-project acme"},
		"no billing": {refuses(t, denied, "This API method requires billing to be enabled.", "BILLING_DISABLED", map[string]string{"consumer": "projects/1"}), "",
			"project acme has no billing account; link one with: gcloud billing projects link acme --billing-account=ACCOUNT"},
		"no permission": {refuses(t, denied, "The caller does not have permission", "", nil), "",
			"the account in use needs the permission cloudbuild.builds.create in project acme: The caller does not have permission; grant it with: gcloud projects add-iam-policy-binding acme --member=user:EMAIL --role=roles/cloudbuild.builds.editor"},
		"no permission, detailed": {refuses(t, denied, "denied", "IAM_PERMISSION_DENIED", map[string]string{"permission": "serviceusage.services.use"}), "me@example.com",
			"me@example.com needs the permission serviceusage.services.use in project acme: denied; grant it with: gcloud projects add-iam-policy-binding acme --member=user:me@example.com "},
		"may not act as": {refuses(t, denied, "caller does not have permission to act as service account projects/acme/serviceAccounts/117", "", nil), "ci@acme.iam.gserviceaccount.com",
			"ci@acme.iam.gserviceaccount.com needs the permission iam.serviceAccounts.actAs on the service account kn-research-builds@acme.iam.gserviceaccount.com: caller does not have permission to act as service account projects/acme/serviceAccounts/117; grant it with: gcloud iam service-accounts add-iam-policy-binding kn-research-builds@acme.iam.gserviceaccount.com --project=acme --member=serviceAccount:ci@acme.iam.gserviceaccount.com --role=roles/iam.serviceAccountUser"},
		"no service account": {refuses(t, codes.NotFound, "Service account projects/acme/serviceAccounts/kn-research-builds@acme.iam.gserviceaccount.com was not found.", "", nil), "",
			"create kn-research-builds@acme.iam.gserviceaccount.com with: gcloud iam service-accounts create kn-research-builds --project=acme"},
		"logged out":      {refuses(t, codes.Unauthenticated, "Request had invalid credentials.", "", nil), "", "the credentials were refused: Request had invalid credentials.; log in with: gcloud auth application-default login"},
		"a wrong request": {refuses(t, codes.InvalidArgument, "invalid build: x", "", nil), "", "it refuses the request: invalid build: x"},
		"anything else":   {refuses(t, codes.Unimplemented, "what?", "", nil), "", "it answered Unimplemented: what?"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t)
			c.Fail("CreateBuild", tt.answer)
			client := c.client()
			if client.User = tt.user; tt.user == "charged elsewhere" {
				client.User, client.Charged = "", "old"
			}
			_, err := client.Start(t.Context(), c.request())
			if err == nil || !strings.HasPrefix(err.Error(), "starting a build in Cloud Build of project acme: ") || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %s", err, tt.want)
			}
			if passes := name == "anything else"; errors.Is(err, cloudbuild.ErrUnusable) == passes {
				t.Errorf("%v is ErrUnusable: %v", err, passes)
			}
		})
	}
}

func TestBucketMissing(t *testing.T) {
	c := newCloud(t)
	c.Web(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error":{"code":404,"message":"The specified bucket does not exist."}}`))
		return true
	})
	_, err := c.client().Start(t.Context(), c.request())
	want := "there is no bucket acme-kn-research-builds; create it with: gcloud storage buckets create gs://acme-kn-research-builds --project=acme --location=europe-west4, and give kn-research-builds@acme.iam.gserviceaccount.com roles/storage.objectAdmin and roles/storage.legacyBucketReader on it"
	if !errors.Is(err, cloudbuild.ErrUnusable) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if len(c.Called("CreateBuild")) > 0 {
		t.Error("a build was created without its source")
	}
}

func TestNewFails(t *testing.T) {
	missing := t.TempDir() + "/missing.json"
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", missing)
	_, err := cloudbuild.New(t.Context(), place)
	if !errors.Is(err, cloudbuild.ErrUnusable) || !strings.HasPrefix(err.Error(), "finding credentials for Cloud Build: ") || !strings.HasSuffix(err.Error(), "; correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is "+missing) {
		t.Errorf("error %v", err)
	}
	if _, err := cloudbuild.New(t.Context(), cloudbuild.Place{Project: "acme"}); err == nil {
		t.Error("a place without a bucket is no error")
	}
}
