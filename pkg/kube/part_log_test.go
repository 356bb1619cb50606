package kube

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
)

func TestTheRequestForThePartsLog(t *testing.T) {
	for _, tt := range []struct {
		part string
		o    logs.Options
		pod  string
		want url.Values
	}{
		{"rm", logs.Options{Tail: -1}, "0", url.Values{"container": {"pathways-rm"}}},
		{"worker-1", logs.Options{Tail: 5}, "0-2", url.Values{"container": {"pathways-worker"}, "tailLines": {"5"}}},
		{"proxy", logs.Options{Tail: 0, Follow: true}, "0", url.Values{"container": {"pathways-proxy"}, "tailLines": {"0"}, "follow": {"true"}}},
	} {
		var got url.Values
		c := clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
			got = r.URL.Query()
			_, _ = io.WriteString(w, r.URL.Path)
		})
		var b strings.Builder
		h := handleOf("a1")
		err := New(c).PartLog(t.Context(), h, tt.part, tt.o, &b)
		if want := "/api/v1/namespaces/ml/pods/" + h.K8sName + "-" + tt.pod + "/log"; b.String() != want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", tt.part, b.String(), err, want)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.part, diff)
		}
	}
}
