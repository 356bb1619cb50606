package cloudbuild_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
)

// An account's ID has at most 30 characters, however long the name of the cluster is.
func TestPlaceOfALongCluster(t *testing.T) {
	place := cloudbuild.PlaceOf("acme", "europe-west4", "a-cluster-with-a-very-long-name")
	if id, _, _ := strings.Cut(place.Account, "@"); len(id) > 30 || !strings.HasSuffix(id, "-builds") {
		t.Errorf("the account is %s", place.Account)
	}
	if short := cloudbuild.PlaceOf("acme", "europe-west4", "research"); short.Account != "kn-research-builds@acme.iam.gserviceaccount.com" || short.Bucket != "acme-kn-research-builds" {
		t.Errorf("got %+v", short)
	}
}
