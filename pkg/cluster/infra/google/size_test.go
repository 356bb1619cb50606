package google

import (
	"net/http"
	"testing"

	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// A permission is named only if it is what is missing.
func TestWhyTheSizeOfABucketIsNotKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(*world)
		want string
	}{
		"no permission": {func(w *world) { w.Deny("storage.objects.list") }, "needs the permission storage.objects.list"},
		"no billing": {func(w *world) {
			w.Fail(gcptest.Fault{Path: "/o$", Status: http.StatusForbidden, Message: "The billing account for the owning project is disabled in state absent."})
		}, "The billing account for the owning project is disabled in state absent"},
		"a perimeter": {func(w *world) {
			w.Fail(gcptest.Fault{Path: "/o$", Status: http.StatusForbidden, Message: "Request is prohibited by organization's policy."})
		}, "Request is prohibited by organization's policy"},
		"no message": {func(w *world) {
			w.Fail(gcptest.Fault{Path: "/o$", Status: http.StatusForbidden})
		}, "Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.AddBucket(names.Project, &storage.Bucket{Name: jobsBucket})
			tt.set(w)
			size, err := w.project.BucketSize(t.Context(), jobsBucket)
			if err == nil || !size.Exists || size.Bytes != nil || size.Unknown != tt.want {
				t.Errorf("got %+v, %v, want %q", size, err, tt.want)
			}
		})
	}
}
