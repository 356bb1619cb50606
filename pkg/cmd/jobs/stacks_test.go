package jobs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

// refusing is an API server that answers each request with an error.
func refusing(t *testing.T, code int, reason, message string) *backend.Host {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d}`, reason, message, code)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	client, err := kube.NewClient(config, "ml", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return backend.NewHost(kube.New(client), api.Handle{JobID: "a-1", Namespace: "ml"}, 0)
}

// A host that can't be asked, say because its node is lost, is one of those that give no answer. Without the right, none can.
func TestAHostThatCannotBeAsked(t *testing.T) {
	pod := api.Host{Host: 2, Pod: "a-1-2", State: api.Running}
	lost := refusing(t, http.StatusInternalServerError, "InternalError", "error dialing backend: no route to host")
	h, err := askPod(t.Context(), lost, pod)
	if err != nil || !strings.Contains(h.Why, "no route to host") || h.Number != 2 || h.Processes == nil {
		t.Errorf("a node is lost: got %+v, %v", h, err)
	}
	if _, err := askPod(t.Context(), refusing(t, http.StatusForbidden, "Forbidden", "user cannot create"), pod); !apierrors.IsForbidden(err) {
		t.Errorf("without the right: got %v", err)
	}
}
