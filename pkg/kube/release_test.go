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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// oneSet is the cluster of a LeaderWorkerSet, which disappears with its pods when it is
// deleted.
type oneSet struct {
	set   *metav1.PartialObjectMetadata // nil is lws()
	pods  []corev1.Pod
	gone  bool
	asked []string
	// refusal, if not nil, is the answer to every change.
	refusal *metav1.Status
}

func (s *oneSet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := path.Base(r.URL.Path)
	if r.Method != http.MethodGet {
		body, _ := io.ReadAll(r.Body)
		s.asked = append(s.asked, r.Method+" "+resource+" "+string(body))
		if s.refusal != nil {
			answerWith(w, int(s.refusal.Code), s.refusal)
			return
		}
		s.gone = r.Method == http.MethodDelete
		answerWith(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
		return
	}
	kinds := map[string]string{"jobs": "JobList", "pods": "PodList", "events": "EventList", "leaderworkersets": "PartialObjectMetadataList"}
	if kinds[resource] == "" { // it is the name of an object
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	versions := map[string]string{"jobs": "batch/v1", "leaderworkersets": "meta.k8s.io/v1"}
	items := []any{}
	if resource == "leaderworkersets" && !s.gone {
		set := s.set
		if set == nil {
			set = lws()
		}
		items = append(items, set)
	}
	if resource == "pods" && !s.gone {
		for _, p := range s.pods {
			items = append(items, p)
		}
	}
	version := versions[resource]
	if version == "" {
		version = "v1"
	}
	answerWith(w, http.StatusOK, map[string]any{"kind": kinds[resource], "apiVersion": version, "metadata": map[string]any{"resourceVersion": "4"}, "items": items})
}

func clusterOfOneSet(t *testing.T) (*oneSet, *Cluster) {
	t.Helper()
	return clusterOfOneSetIn(t, "ml")
}

func clusterOfOneSetIn(t *testing.T, namespace string) (*oneSet, *Cluster) {
	t.Helper()
	s := &oneSet{}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, namespace, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, New(c)
}

func TestReleaseSaysHowTheJobEndedAndScalesToZeroInOneStep(t *testing.T) {
	s, w := clusterOfOneSet(t)
	if err := w.Release(t.Context(), handleOf("x"), api.End{State: api.Succeeded, Reason: api.Completed, By: "runner"}); err != nil {
		t.Fatal(err)
	}
	if len(s.asked) != 1 {
		t.Fatalf("asked for %v, want one patch", s.asked)
	}
	body, found := strings.CutPrefix(s.asked[0], "PATCH keras-pathways-x ")
	var patch struct {
		Metadata struct {
			UID         types.UID
			Annotations map[string]string
		}
		Spec map[string]int
	}
	if err := json.Unmarshal([]byte(body), &patch); err != nil || !found {
		t.Fatalf("asked for %v, %v", s.asked, err)
	}
	if diff := cmp.Diff(map[string]int{"replicas": 0}, patch.Spec); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := lws().UID; patch.Metadata.UID != want || want == "" {
		t.Errorf("the patch is for a set with UID %q, want %q", patch.Metadata.UID, want)
	}
	released := lws(api.Contract.Names.Outcome, patch.Metadata.Annotations[api.Contract.Names.Outcome])
	if got := asWorkload(released).State(nil); got.State != api.Succeeded || got.Reason != api.Completed {
		t.Errorf("the outcome reads %+v", got)
	}
}

// A set that was created again under the name of a known set is another job's.
func TestReleaseIsOfTheSetThatWasSeen(t *testing.T) {
	status := func(code int32, reason metav1.StatusReason, field string) *metav1.Status {
		return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: code, Reason: reason,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: field}}}}
	}
	for name, tt := range map[string]struct {
		refusal *metav1.Status
		fails   bool
	}{
		"another has its name": {status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "metadata.uid"), false},
		"it is gone":           {status(http.StatusNotFound, metav1.StatusReasonNotFound, ""), false},
		"it can't be scaled":   {status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "spec.replicas"), true},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := clusterOfOneSet(t)
			s.refusal = tt.refusal
			if err := w.Release(t.Context(), handleOf("x"), api.End{}); (err != nil) != tt.fails {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDeleteRemovesASetAndWaitsForItsPods(t *testing.T) {
	for name, tt := range map[string]struct {
		grace  time.Duration
		policy metav1.DeletionPropagation
	}{
		"with grace": {time.Second, metav1.DeletePropagationForeground},
		"at once":    {0, metav1.DeletePropagationBackground},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := clusterOfOneSet(t)
			if err := w.Delete(t.Context(), handleOf("x"), api.DeleteOptions{Grace: tt.grace}); err != nil {
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

// A client for all namespaces can release, too: the handle has the namespace.
func TestReleaseFromAllNamespaces(t *testing.T) {
	s, c := clusterOfOneSetIn(t, "")
	h := handleOf("x")
	h.Namespace = lws().Namespace
	if err := c.Release(t.Context(), h, api.End{State: api.Succeeded}); err != nil || len(s.asked) != 1 {
		t.Errorf("asked for %v, %v, want one patch", s.asked, err)
	}
}
