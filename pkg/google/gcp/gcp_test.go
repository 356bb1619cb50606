package gcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

const parent = "projects/acme/locations/us-central1-a"

// world is a server and access to it.
type world struct {
	*gcptest.Server
	access    *gcp.Access
	container *container.Service
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Server: gcptest.New(t)}
	w.connect(t)
	return w
}

// connect reads the credentials.
func (w *world) connect(t *testing.T) {
	t.Helper()
	var err error
	if w.access, err = gcp.New(t.Context(), w.Env); err != nil {
		t.Fatal(err)
	}
	w.access.Interval = time.Millisecond
	if w.container, err = container.NewService(t.Context(), w.access.Options(gcp.Container)...); err != nil {
		t.Fatal(err)
	}
}

// clusters lists the clusters, as anything that is done.
func (w *world) clusters(ctx context.Context) error {
	_, err := w.container.Projects.Locations.Clusters.List(parent).Context(ctx).Do()
	return w.access.Explain(err, "acme", "listing the clusters")
}

func TestAccess(t *testing.T) {
	w := newWorld(t)
	if err := w.clusters(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.access.Account(); got != gcptest.Account {
		t.Errorf("the account is %q", got)
	}
	if calls := w.Calls(); len(calls) != 1 || calls[0].String() != "GET container/v1/"+parent+"/clusters" {
		t.Errorf("made %v", calls)
	}
}

// Each failure of a single request is survived, of whatever kind and method.
// Whoever answers for an endpoint must not be able to send the token elsewhere.
func TestTokensFollowNoRedirect(t *testing.T) {
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer elsewhere.Close()
	endpoint := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer endpoint.Close()
	s := gcptest.New(t)
	access, err := gcp.New(t.Context(), func(name string) string {
		if name == gcp.Container.Variable() {
			return endpoint.URL
		}
		return s.Env(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	service, err := container.NewService(t.Context(), access.Options(gcp.Container)...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.Projects.Locations.Clusters.List(parent).Do(); err == nil || asked {
		t.Errorf("got %v, asked elsewhere: %v", err, asked)
	}
}

func TestOneFailureIsSurvived(t *testing.T) {
	for name, fault := range map[string]gcptest.Fault{
		"too many requests":                  {Status: http.StatusTooManyRequests},
		"unavailable":                        {Status: http.StatusServiceUnavailable, Body: "<html>busy</html>"},
		"a broken connection":                {Reset: true},
		"an answer that is lost":             {Lost: true},
		"an answer to a change that is lost": {Method: http.MethodPost, Lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Fail(fault)
			_, err := w.container.Projects.Locations.Clusters.Create(parent, &container.CreateClusterRequest{Cluster: &container.Cluster{Name: "main"}}).Context(t.Context()).Do()
			if err != nil && (!fault.Lost || !gcp.IsExists(err)) {
				t.Error(err)
			}
			if c := w.Cluster("acme", "us-central1-a", "main"); c == nil || len(w.Calls()) != 2 {
				t.Errorf("the cluster is %v after %v", c, w.Calls())
			}
		})
	}
}

func TestOperations(t *testing.T) {
	create := func(w *world) gcp.Operation {
		o, err := w.container.Projects.Locations.Clusters.Create(parent, &container.CreateClusterRequest{Cluster: &container.Cluster{Name: "main"}}).Context(t.Context()).Do()
		if err != nil {
			t.Fatal(err)
		}
		return gcp.ContainerOperation(w.container, "acme", "us-central1-a", o)
	}
	t.Run("succeeds", func(t *testing.T) {
		w := newWorld(t)
		w.SetPolls(3)
		var texts []string
		err := w.access.Wait(t.Context(), create(w), func(s gcp.State) { texts = append(texts, s.Text) })
		if got := strings.Join(texts, "; "); err != nil || got != "pending; 1 of 3 nodes; 2 of 3 nodes; done" {
			t.Errorf("got %q, %v", got, err)
		}
		if got := w.Cluster("acme", "us-central1-a", "main").Status; got != "RUNNING" {
			t.Errorf("the cluster is %s", got)
		}
	})
	t.Run("is done at once", func(t *testing.T) {
		w := newWorld(t)
		w.SetPolls(0)
		if err := w.access.Wait(t.Context(), create(w), nil); err != nil || len(w.Calls()) != 1 {
			t.Errorf("got %v after %v", err, w.Calls())
		}
	})
	t.Run("fails", func(t *testing.T) {
		w := newWorld(t)
		w.FailOperation(gcptest.OperationFault{Kind: "CREATE_CLUSTER", Error: &gcptest.Error{Code: 429, Message: "no more of these"}})
		err := w.access.Explain(w.access.Wait(t.Context(), create(w), nil), "acme", "creating cluster main")
		if err == nil || !strings.Contains(err.Error(), "creating cluster main: there are not enough resources: no more of these; try again later, or elsewhere") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("is left", func(t *testing.T) {
		w := newWorld(t)
		w.FailOperation(gcptest.OperationFault{}) // it hangs
		ctx, cancel := context.WithCancel(t.Context())
		err := w.access.Wait(ctx, create(w), func(s gcp.State) {
			if s.Text == "pending" {
				cancel()
			}
		})
		var unfinished *gcp.UnfinishedError
		const command = "gcloud container operations describe operation-1 --location=us-central1-a --project=acme"
		if !errors.As(err, &unfinished) || !errors.Is(err, context.Canceled) || unfinished.Next() != command || unfinished.Kind() != api.KindInterrupted {
			t.Errorf("got %v", err)
		}
		w.FinishOperations()
		if got := w.Cluster("acme", "us-central1-a", "main").Status; got != "RUNNING" {
			t.Errorf("the cluster is %s", got)
		}
	})
	t.Run("of Compute Engine", func(t *testing.T) {
		w := newWorld(t)
		service, err := compute.NewService(t.Context(), w.access.Options(gcp.Compute)...)
		if err != nil {
			t.Fatal(err)
		}
		w.FailOperation(gcptest.OperationFault{Kind: "insert", Error: &gcptest.Error{Code: 403, Reason: "QUOTA_EXCEEDED",
			Message: "Quota 'RESOURCE_POLICIES' exceeded.  Limit: 10.0 in region us-central1."}})
		o, err := service.ResourcePolicies.Insert("acme", "us-central1", &compute.ResourcePolicy{Name: "p"}).Context(t.Context()).Do()
		if err != nil {
			t.Fatal(err)
		}
		err = w.access.Wait(t.Context(), gcp.ComputeOperation(service, "acme", o), nil)
		err = w.access.Explain(err, "acme", "creating policy p")
		if want := "the quota RESOURCE_POLICIES in us-central1 is exceeded, its limit is 10: "; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestExplain(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(w *world)
		want    string
		kind    api.ErrorKind
	}{
		"a permission is missing": {func(w *world) { w.Deny("container.clusters.list") },
			`listing the clusters: admin@acme.iam.gserviceaccount.com needs the permission container.clusters.list in project acme: Required "container.clusters.list" permission(s) for "projects/acme"; grant it with: ` +
				`gcloud projects add-iam-policy-binding acme --member=serviceAccount:admin@acme.iam.gserviceaccount.com --role=roles/container.clusterViewer`, api.KindForbidden},
		"the API is not enabled": {func(w *world) {
			w.SetProject("acme", func(p *gcptest.Project) { p.APIs["container.googleapis.com"] = false })
		}, "listing the clusters: the API container.googleapis.com is not enabled in project acme; enable it with: gcloud services enable container.googleapis.com --project acme", api.KindForbidden},
		"the credentials have expired": {func(w *world) { w.Expire() },
			"listing the clusters: the credentials were refused: invalid_grant: Token has been expired or revoked.; correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is /", api.KindForbidden},
		"the credentials are refused": {func(w *world) { w.Fail(gcptest.Fault{Status: 401, Message: "Invalid Credentials."}) },
			"listing the clusters: the credentials were refused: Invalid Credentials; correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is /", api.KindForbidden},
		"a quota": {func(w *world) {
			w.Fail(gcptest.Fault{Status: 403, Message: "Quota 'NVIDIA_L4_GPUS' exceeded.  Limit: 1.0 in region us-central1."})
		}, "listing the clusters: the quota NVIDIA_L4_GPUS in us-central1 is exceeded, its limit is 1: Quota 'NVIDIA_L4_GPUS' exceeded.  Limit: 1.0 in region us-central1; ask for more at https://console.cloud.google.com/iam-admin/quotas", api.KindFailed},
		"no billing": {func(w *world) { w.Fail(gcptest.Fault{Status: 403, Reason: "BILLING_DISABLED"}) },
			"listing the clusters: project acme has no billing account; link one with: gcloud billing projects link acme --billing-account=ACCOUNT", api.KindForbidden},
		"a constraint": {func(w *world) {
			w.Fail(gcptest.Fault{Status: 412, Message: "Constraint constraints/compute.restrictCloudNATUsage violated for projects/acme. Cloud NAT is not allowed."})
		}, "listing the clusters: a policy of the organization forbids it: Constraint constraints/compute.restrictCloudNATUsage violated for projects/acme. Cloud NAT is not allowed; " +
			"see it with: gcloud resource-manager org-policies describe compute.restrictCloudNATUsage --effective --project=acme", api.KindForbidden},
		"a page of a proxy": {func(w *world) { w.Fail(gcptest.Fault{Status: 404, Body: "<html>"}) },
			"listing the clusters: got a web page instead of an API response: check the network, and HTTPS_PROXY if there is a proxy", api.KindUnreachable},
		"the server is away": {func(w *world) { w.Close() }, "listing the clusters: Google Cloud can't be reached: nothing listens at ", api.KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			err := w.clusters(t.Context())
			var explained *transport.Explained
			if !errors.As(err, &explained) || !strings.HasPrefix(err.Error(), tt.want) || explained.Kind() != tt.kind {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// A text names the permission between names of accounts, servers and pages that look like one.
func TestExplainFindsThePermission(t *testing.T) {
	for text, want := range map[string]string{
		"admin@acme.iam.gserviceaccount.com does not have storage.buckets.get access to the Google Cloud Storage bucket. Permission 'storage.buckets.get' denied on resource (or it may not exist).": "storage.buckets.get",
		"first.of.all@example.com does not have storage.objects.list access":                              "storage.objects.list",
		"Required 'compute.zones.list' permission for 'projects/acme'":                                    "compute.zones.list",
		"Missing permissions required: container.nodePools.create.":                                       "container.nodePools.create",
		"The caller lacks cloudbuild.builds.create":                                                       "cloudbuild.builds.create",
		"container.googleapis.com refuses it, see https://cloud.google.com/iam and docs.cloud.google.com": "",
		"admin@acme.iam.gserviceaccount.com may not do this":                                              "",
	} {
		w := newWorld(t)
		w.Fail(gcptest.Fault{Status: 403, Message: text})
		err := w.clusters(t.Context())
		is := "may not do this in project acme: "
		if want != "" {
			is = "needs the permission " + want + " in project acme: "
		}
		if err == nil || !strings.HasPrefix(err.Error(), "listing the clusters: "+gcptest.Account+" "+is) {
			t.Errorf("%s: got %v", text, err)
		}
		if role := gcp.RoleWith(want); role != "" && !strings.HasSuffix(err.Error(), "--role="+role) {
			t.Errorf("%s: no --role=%s in %v", text, role, err)
		}
	}
}

// Credentials may expire while something is under way.
func TestCredentialsExpireHalfWay(t *testing.T) {
	w := newWorld(t)
	if err := w.clusters(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Expire()
	err := w.clusters(t.Context())
	var explained *transport.Explained
	if !errors.As(err, &explained) || !strings.HasPrefix(explained.Next(), "correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is /") {
		t.Errorf("got %v", err)
	}
	w.Renew()
	if w, err := gcp.New(t.Context(), w.Env); err != nil || w == nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		env  map[string]string
		want string
	}{
		"an endpoint without TLS": {map[string]string{"CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER": "http://example.com/"},
			"CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER http://example.com/: expected https://: http:// would expose the credentials to the network, and is accepted only for localhost"},
		"no URL": {map[string]string{"CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE": "example"},
			"CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE example: expected a URL such as https://container.googleapis.com/"},
		"no file":                        {map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file + "x"}, "finding credentials for Google Cloud: "},
		"a file that has no credentials": {map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file}, "finding credentials for Google Cloud: "},
	} {
		_, err := gcp.New(t.Context(), func(name string) string { return tt.env[name] })
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v", name, err)
		}
		var usage interface{ Usage() bool }
		if badInput := errors.As(err, &usage) && usage.Usage(); badInput != strings.HasPrefix(tt.want, "CLOUDSDK_") {
			t.Errorf("%s: bad input: %v", name, badInput)
		}
	}
}

func TestRoleWith(t *testing.T) {
	for permission, want := range map[string]string{
		"container.clusters.update":      "roles/container.admin",
		"container.clusters.get":         "roles/container.clusterViewer",
		"container.clusters.connect":     "roles/container.viewer",
		"iam.serviceAccounts.actAs":      "roles/iam.serviceAccountUser",
		"compute.networks.create":        "roles/compute.networkAdmin",
		"compute.resourcePolicies.get":   "roles/compute.instanceAdmin.v1",
		"secretmanager.versions.destroy": "",
	} {
		if got := gcp.RoleWith(permission); got != want {
			t.Errorf("%s: got %q", permission, got)
		}
	}
}
