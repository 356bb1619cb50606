package provide_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
)

// TestCancelBuild: an interrupt cancels a build only if that was asked for, and only one that this
// run has started.
func TestCancelBuild(t *testing.T) {
	for name, tt := range map[string]struct {
		asked, joined bool
		fault         error
		cancelled     bool
	}{
		"not asked for":    {},
		"asked for":        {asked: true, cancelled: true},
		"someone else's":   {asked: true, joined: true},
		"it is refused":    {asked: true, fault: status.Error(codes.PermissionDenied, "no")},
		"it takes a while": {asked: true, fault: status.Error(codes.Unavailable, "down"), cancelled: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCloudWorld(t, cloudbuildtest.Works)
			plan := w.cloudPlan(fromGit)
			interrupt := func() error {
				ctx, cancel := context.WithCancel(t.Context())
				w.cloud.Asked(func(string) { cancel() })
				_, err := w.provideIn(ctx, plan)
				return err
			}
			if tt.joined {
				_ = interrupt()
			}
			w.cancelBuild = tt.asked
			w.cloud.Fail("CancelBuild", tt.fault)
			err := interrupt()
			var cloud *provide.CloudError
			if !errors.As(err, &cloud) || !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v", err)
			}
			want := "is still running, and the next run uses it"
			if tt.cancelled {
				want = "was cancelled"
			}
			if got := cloud.Going(); !strings.HasPrefix(got, "the build of "+plan.Image+" "+want) {
				t.Errorf("says %q, want %q", got, want)
			}
			if got := w.built().Status.String(); (got == "CANCELLED") != tt.cancelled {
				t.Errorf("the build is %s", got)
			}
		})
	}
}
