package stack_test

import (
	"net/http"
	"testing"

	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// Another project has the bucket that would be the store. up creates nothing, and what it has created before
// it was there can be deleted.
func TestBucketOfAnotherProject(t *testing.T) {
	const bucket = "acme-kn-research-jobs"
	w := newWorld(t)
	w.AddProject("elsewhere")
	w.AddBucket("elsewhere", &storage.Bucket{Name: bucket})
	before := len(w.Changes())
	w.up(t, "--yes").check(t, 1, "reading bucket "+bucket+": it belongs to another project")
	w.unchanged(t, before)

	w.Fail(gcptest.Fault{Method: http.MethodGet, Path: "/b/" + bucket + "$", Times: 1, Status: http.StatusNotFound})
	w.up(t, "--yes").check(t, 1, "creating bucket "+bucket+": it belongs to another project")
	w.down(t, "--yes=research", "--delete-data", "--force").check(t, 0, "= bucket "+bucket+" stays: reading bucket "+bucket+": it belongs to another project", "deleted     cluster research")
	if w.Bucket(bucket) == nil {
		t.Error("the bucket was deleted")
	}
}

// That bucket may not be read, as is usual. down still deletes the rest.
func TestBucketThatMayNotBeRead(t *testing.T) {
	const bucket = "acme-kn-research-jobs"
	w := newWorld(t)
	hidden := gcptest.Fault{Method: http.MethodGet, Path: "/b/" + bucket + "$", Times: 1000, Status: http.StatusForbidden, Reason: "forbidden",
		Message: "admin@acme.iam.gserviceaccount.com does not have storage.buckets.get access to the Google Cloud Storage bucket. Permission 'storage.buckets.get' denied on resource (or it may not exist)."}
	w.Fail(hidden)
	before := len(w.Changes())
	w.up(t, "--yes").check(t, 1, "reading bucket "+bucket+": it may belong to another project: choose another name with --cluster; if it belongs to project acme: ", "storage.buckets.get")
	w.unchanged(t, before)

	w.Recover()
	w.up(t, "--yes").check(t, 0)
	w.Fail(hidden)
	w.down(t, "--yes=research", "--delete-data").check(t, 0, "= bucket "+bucket+" stays: ", "it may belong to another project", "deleted     cluster research", "deleted     bucket acme-kn-research-builds")
	if w.Bucket(bucket) == nil {
		t.Error("the bucket was deleted")
	}
}
