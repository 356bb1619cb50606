package kube

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// warmSet makes the set of a cluster a warm host of two pods, whose leader has been ready, or not, for a time.
func warmSet(s *oneSet, owner string, ready corev1.ConditionStatus, since time.Duration) {
	s.set = lws(api.AnnotationWarmOwner, owner)
	s.set.Labels[api.LabelWarm] = "key"
	for host := range 2 {
		p := member(host, 1, running(2))
		p.Namespace, p.Labels[api.LabelJobID] = s.set.Namespace, "x"
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(time.Now().Add(-since))}}
		s.pods = append(s.pods, p)
	}
}

// A host that is a set is listed with its pods by their numbers.
func TestWarmHostsAreSetsToo(t *testing.T) {
	s, c := clusterOfOneSet(t)
	warmSet(s, "ann", corev1.ConditionTrue, time.Hour)
	hosts, err := c.WarmHosts(t.Context())
	if err != nil || len(hosts) != 1 {
		t.Fatalf("%d hosts, %v", len(hosts), err)
	}
	h := hosts[0]
	if h.Owner != "ann" || !h.TakesCalls() || h.PodOf(0).Name != "h0-1" || h.PodOf(1).Name != "h1-1" || h.PodOf(2) != (Pod{}) || h.PodOf(-1) != (Pod{}) {
		t.Errorf("got %+v", h)
	}
	if h.Handle.Backend != api.BackendLWS || h.Handle.K8sName != s.set.Name || h.Handle.Hosts != 2 {
		t.Errorf("got the handle %+v", h.Handle)
	}
	pods := s.pods
	s.pods = nil
	reached, err := c.ReachedHost(t.Context(), h.Handle, h.PodOf(0))
	if err != nil || !reflect.DeepEqual(reached.Handle, h.Handle) || reached.Key != "key" || reached.Owner != "ann" || !slices.Equal(reached.Running, h.Running[:1]) {
		t.Errorf("reached %+v, %v", reached, err)
	}
	s.pods = pods
	s.set.Annotations[api.Contract.Names.Outcome] = `{"version":1,"state":"SUCCEEDED"}`
	if hosts, err = c.WarmHosts(t.Context()); err != nil || len(hosts) != 0 {
		t.Errorf("after its end: %d hosts, %v", len(hosts), err)
	}
	if reached, err = c.ReachedHost(t.Context(), h.Handle, h.PodOf(0)); err != nil || reached.TakesCalls() {
		t.Errorf("after its end: reached %+v, %v", reached, err)
	}
}

// Only what has ended is deleted, and only what is one's own.
func TestDeleteEndedWarmSets(t *testing.T) {
	ended := `{"version":1,"state":"FAILED","reason":"Disrupted"}`
	for name, tt := range map[string]struct {
		owner, outcome string
		ready          corev1.ConditionStatus
		since          time.Duration
		want           bool
	}{
		"it has ended":                      {owner: "ann", outcome: ended, want: true},
		"another user's set has ended":      {owner: "bob", outcome: ended},
		"it is ready":                       {owner: "ann", ready: corev1.ConditionTrue, since: time.Hour},
		"it has just begun, or a busy node": {owner: "ann", ready: corev1.ConditionFalse, since: time.Minute},
		"it could not tell that it ended":   {owner: "ann", ready: corev1.ConditionFalse, since: time.Hour, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := clusterOfOneSet(t)
			if tt.ready != "" {
				warmSet(s, tt.owner, tt.ready, tt.since)
			} else {
				warmSet(s, tt.owner, corev1.ConditionTrue, 0)
				s.set.Annotations[api.Contract.Names.Outcome], s.pods = tt.outcome, nil
			}
			if err := c.DeleteEndedWarmSets(t.Context(), "ann"); err != nil || s.gone != tt.want {
				t.Errorf("deleted: %v, %v; want %v", s.gone, err, tt.want)
			}
		})
	}
}

// A server that does not say what the user may do says yes: the attempt will show it.
func TestMayForwardPorts(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		status int
		want   bool
	}{
		"allowed":       {`{"status":{"allowed":true}}`, http.StatusCreated, true},
		"denied":        {`{"status":{"allowed":false}}`, http.StatusCreated, false},
		"no answer":     {`{"kind":"Status","status":"Failure","code":403}`, http.StatusForbidden, true},
		"not an answer": {`<html>`, http.StatusOK, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked, _ := io.ReadAll(r.Body)
				if r.URL.Path != "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" || !strings.Contains(string(asked), `"namespace":"ml","verb":"create","resource":"pods","subresource":"portforward"`) {
					t.Errorf("it asks %s: %s", r.URL.Path, asked)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.answer)
			}))
			defer server.Close()
			client, err := NewClient(&rest.Config{Host: server.URL}, "ml", nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := New(client).MayForwardPorts(t.Context()); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
