package run

import (
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// A program learns that an image was replaced from the kind of the error.
func TestMovedImage(t *testing.T) {
	kept, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j := &job.Job{Handle: api.Handle{JobID: "a1", ImageURI: "repo/image", ImageDigests: []string{"sha256:a"}}, Store: kept, Backend: jobtest.Backend{State: api.Pending}}
	o := &options{clock: clock.RealClock{}}
	err = o.giveUpMoved(t.Context(), j, api.Status{ImageDigest: "sha256:b"})
	if cli.KindOf(err) != api.KindUntrusted || !strings.HasPrefix(err.Error(), "the image repo/image was sha256:a at submission") {
		t.Errorf("got %s, %v", cli.KindOf(err), err)
	}
}
