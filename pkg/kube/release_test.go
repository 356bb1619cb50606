package kube

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// oneSet is the cluster of a LeaderWorkerSet without pods, which goes when it is
// deleted.
type oneSet struct {
	gone  bool
	asked []string
}

func (s *oneSet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := path.Base(r.URL.Path)
	if r.Method != http.MethodGet {
		body, _ := io.ReadAll(r.Body)
		s.asked = append(s.asked, r.Method+" "+resource+" "+string(body))
		s.gone = r.Method == http.MethodDelete
		answerWith(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
		return
	}
	kinds := map[string]string{"jobs": "JobList", "pods": "PodList", "events": "EventList", "leaderworkersets": "PartialObjectMetadataList"}
	versions := map[string]string{"jobs": "batch/v1", "leaderworkersets": "meta.k8s.io/v1"}
	items := []any{}
	if resource == "leaderworkersets" && !s.gone {
		items = append(items, set())
	}
	version := versions[resource]
	if version == "" {
		version = "v1"
	}
	answerWith(w, http.StatusOK, map[string]any{"kind": kinds[resource], "apiVersion": version, "metadata": map[string]any{"resourceVersion": "4"}, "items": items})
}

func workloadOfOneSet(t *testing.T) (*oneSet, *Workload) {
	t.Helper()
	s := &oneSet{}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, New(c, nil)
}

func TestReleaseSaysHowTheJobEndedAndScalesToZeroInOneStep(t *testing.T) {
	s, w := workloadOfOneSet(t)
	if err := w.Release(t.Context(), "x", api.End{State: api.Succeeded, Reason: api.Completed, By: "runner"}); err != nil {
		t.Fatal(err)
	}
	if len(s.asked) != 1 {
		t.Fatalf("asked for %v, want one patch", s.asked)
	}
	body, found := strings.CutPrefix(s.asked[0], "PATCH keras-pathways-x ")
	var patch struct {
		Metadata struct{ Annotations map[string]string }
		Spec     map[string]int
	}
	if err := json.Unmarshal([]byte(body), &patch); err != nil || !found {
		t.Fatalf("asked for %v, %v", s.asked, err)
	}
	if diff := cmp.Diff(map[string]int{"replicas": 0}, patch.Spec); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	released := set(api.AnnotationOutcome, patch.Metadata.Annotations[api.AnnotationOutcome])
	if end, ok := outcome(released); !ok || end.State != api.Succeeded || end.By != "runner" {
		t.Errorf("the outcome reads %+v", end)
	}
}

func TestStopRemovesASetAndWaitsForItsPods(t *testing.T) {
	for name, tt := range map[string]struct {
		grace  time.Duration
		policy metav1.DeletionPropagation
	}{
		"with grace": {time.Second, metav1.DeletePropagationForeground},
		"at once":    {0, metav1.DeletePropagationBackground},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := workloadOfOneSet(t)
			if err := w.Stop(t.Context(), "x", tt.grace, nil); err != nil {
				t.Fatal(err)
			}
			removed := slices.ContainsFunc(s.asked, func(a string) bool {
				return strings.HasPrefix(a, "DELETE keras-pathways-x ") && strings.Contains(a, string(tt.policy))
			})
			if len(s.asked) != 1 || !removed {
				t.Errorf("asked for %q, want one removal by %s", s.asked, tt.policy)
			}
		})
	}
}
