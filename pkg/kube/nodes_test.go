package kube

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Nodes and the pods of warm hosts only make a reason clearer: without a right to list them, or if they are very many, there are none.
func TestAround(t *testing.T) {
	for name, tt := range map[string]struct {
		code int
		more string
		want []string
		warm int
	}{
		"two":      {http.StatusOK, "", []string{"a 1", "b 0"}, 1},
		"too many": {http.StatusOK, "next", nil, 1},
		"no right": {http.StatusForbidden, "", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			c := clientOf(t, "ml", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked = append(asked, r.URL.Path)
				mu.Unlock()
				if tt.code != http.StatusOK {
					fail(w, tt.code, reasonOf[tt.code])
					return
				}
				if r.URL.Path == "/api/v1/namespaces/ml/pods" {
					if got := r.URL.Query().Get("labelSelector"); got != api.LabelWarm {
						t.Errorf("asked for pods with %q", got)
					}
					answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "warm"}}}})
					return
				}
				items := []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "t", Effect: corev1.TaintEffectNoSchedule}}}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
				answerWith(w, http.StatusOK, corev1.NodeList{TypeMeta: metav1.TypeMeta{Kind: "NodeList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{Continue: tt.more}, Items: items})
			}))
			cluster := New(c)
			for range 2 {
				var got []string
				now := cluster.knownAround(t.Context())
				for _, n := range now.nodes {
					got = append(got, n.Name+" "+strconv.Itoa(len(n.Spec.Taints)))
				}
				if !slices.Equal(got, tt.want) || len(now.warm) != tt.warm {
					t.Errorf("got %q, want %q, and %d pods", got, tt.want, len(now.warm))
				}
			}
			slices.Sort(asked)
			if want := []string{"/api/v1/namespaces/ml/pods", "/api/v1/nodes"}; !slices.Equal(asked, want) {
				t.Errorf("asked %v", asked)
			}
		})
	}
}
