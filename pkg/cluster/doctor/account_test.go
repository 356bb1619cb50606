package doctor

import (
	"context"
	"strings"
	"testing"
)

// Without a service account, or its annotation, the check names what makes it.
func TestPodsWithoutAnAccount(t *testing.T) {
	ofUp := `{"name":"c","resourceLabels":{"kubectl-kinetic":"c"},` + strings.TrimPrefix(running, "{")
	otherBucket := map[string]string{"GET /storage/b/other/iam": `{}`}
	for name, tt := range map[string]struct {
		cluster, store string
		err            error
		state          State
		detail, fix    string
	}{
		"no service account": {running, "gs://acme-kn-c-jobs", NeedError("service account"), Skipped, "needs: service account", ""},
		"a cluster of up": {ofUp, "gs://acme-kn-c-jobs", nil, Wrong, "the service account kinetic of namespace ml is not annotated with a Google service account",
			"kubectl kinetic up --project acme --zone us-central1-a --cluster c -n ml"},
		"a cluster of someone": {running, "gs://acme-kn-c-jobs", nil, Wrong, "no binding of the bucket acme-kn-c-jobs",
			"gcloud storage buckets add-iam-policy-binding gs://acme-kn-c-jobs --role=roles/storage.objectUser --member=" + ofPods},
		"another bucket": {ofUp, "gs://other", nil, Wrong, "no binding of the bucket other",
			"gcloud storage buckets add-iam-policy-binding gs://other --role=roles/storage.objectUser --member=" + ofPods},
	} {
		t.Run(name, func(t *testing.T) {
			otherBucket[clusterPath] = tt.cluster
			o := options(serve(t, otherBucket).env)
			o.Target.Store = tt.store
			o.Identity = func(context.Context) (string, error) { return "", tt.err }
			got := find(t, run(t, o), "Workload Identity")
			if got.State != tt.state || !strings.Contains(got.Detail, tt.detail) || got.Fix != tt.fix {
				t.Errorf("got %s %q, fix %q", got.State, got.Detail, got.Fix)
			}
		})
	}
}
