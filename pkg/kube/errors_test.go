package kube

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// isUsage reports whether an error is one of the command line, as pkg/cmd/cli does.
func isUsage(err error) bool {
	var usage interface{ Usage() bool }
	return errors.As(err, &usage) && usage.Usage()
}

func TestTheRightThatALogNeeds(t *testing.T) {
	if got := (&Client{}).requested(readLog, kind{resource: "pods"}); got != (apiserver.Request{Verb: "get", Resource: "pods/log"}) {
		t.Errorf("got %v", got)
	}
}

func TestListOfANamespaceThatIsNotThere(t *testing.T) {
	for name, tt := range map[string]struct {
		status metav1.Status // of asking for the namespace
		want   string
	}{
		"not there": {metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{Kind: "namespaces"}},
			"there is no namespace research: choose another with --namespace"},
		"it may be there": {metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Path == "/api/v1/namespaces/research" {
					tt.status.Kind, tt.status.APIVersion, tt.status.Status = "Status", "v1", metav1.StatusFailure
					w.WriteHeader(int(tt.status.Code))
					_ = json.NewEncoder(w).Encode(tt.status)
					return
				}
				_ = json.NewEncoder(w).Encode(batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}})
			}))
			defer s.Close()
			c, err := NewClient(&rest.Config{Host: s.URL}, "research", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = New(c).List(t.Context(), api.ListNames)
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			enough := errors.New("enough")
			err = New(c).WatchList(t.Context(), api.ListNames, func([]api.JobSummary) error { return enough })
			if errors.Is(err, enough) != (tt.want == "") || tt.want != "" && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("watching: got %v, want %q", err, tt.want)
			}
		})
	}
}
