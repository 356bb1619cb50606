package kube

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
)

const usedByPods = `{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[
 {"metadata":{"name":"a-0","namespace":"ml"},"containers":[{"name":"kinetic-worker","usage":{"cpu":"1500m","memory":"1Gi"}},{"name":"sidecar","usage":{"cpu":"250000000n","memory":"1024Ki"}}]},
 {"metadata":{"name":"b-0","namespace":"ml"},"containers":[]}]}`

func TestUses(t *testing.T) {
	asked := ""
	for namespace, path := range map[string]string{"ml": "/apis/metrics.k8s.io/v1beta1/namespaces/ml/pods", "": "/apis/metrics.k8s.io/v1beta1/pods"} {
		c := clientOf(t, namespace, func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.Path + " " + r.URL.Query().Get("labelSelector")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, usedByPods)
		})
		uses, err := New(c).Uses(t.Context())
		if err != nil || len(uses) != 2 || !strings.HasPrefix(asked, path+" app in (") {
			t.Fatalf("asked %s, got %v, %v", asked, uses, err)
		}
		if a := uses[PodName{"ml", "a-0"}]; *a.CPU != 1.75 || *a.Memory != 1<<30+1<<20 || a.Duty != nil {
			t.Errorf("got %v cores, %d bytes", *a.CPU, *a.Memory)
		}
	}
}

func TestNoUses(t *testing.T) {
	for code, lacks := range map[int]bool{http.StatusNotFound: true, http.StatusServiceUnavailable: true, http.StatusForbidden: false} {
		c := clientOf(t, "ml", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q}`, code, map[int]string{404: "NotFound", 503: "ServiceUnavailable", 403: "Forbidden"}[code])
		})
		if _, err := New(c).Uses(t.Context()); err == nil || LacksMetrics(err) != lacks {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestLastLine(t *testing.T) {
	var asked []string
	c := clientOf(t, "", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, r.URL.Path, q.Get("tailLines"), q.Get("limitBytes"), q.Get("follow"))
		_, _ = io.WriteString(w, "2026-04-17T12:00:00Z step 7\n")
	})
	line, err := New(c).LastLine(t.Context(), PodName{"ml", "a-0"})
	if line != "step 7" || err != nil {
		t.Errorf("got %q, %v", line, err)
	}
	if want := []string{"/api/v1/namespaces/ml/pods/a-0/log", "1", "4096", ""}; !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
	c = clientOf(t, "ml", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	var failure *logs.SourceError
	if _, err := New(c).LastLine(t.Context(), PodName{"ml", "a-0"}); !errors.As(err, &failure) {
		t.Errorf("of no pod: %v", err)
	}
}
