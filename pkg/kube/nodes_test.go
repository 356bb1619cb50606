package kube

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Nodes only make a reason clearer: without a right to list them, or if they are very many, there are none.
func TestNodes(t *testing.T) {
	for name, tt := range map[string]struct {
		code int
		more string
		want string
	}{
		"two":      {http.StatusOK, "", "a b"},
		"too many": {http.StatusOK, "next", ""},
		"no right": {http.StatusForbidden, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			c := clientOf(t, "ml", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.Path)
				if tt.code != http.StatusOK {
					fail(w, tt.code, reasonOf[tt.code])
					return
				}
				items := []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
				answerWith(w, http.StatusOK, corev1.NodeList{TypeMeta: metav1.TypeMeta{Kind: "NodeList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{Continue: tt.more}, Items: items})
			}))
			cluster := New(c)
			for range 2 {
				var got []string
				for _, n := range cluster.knownNodes(t.Context()) {
					got = append(got, n.Name)
				}
				if strings.Join(got, " ") != tt.want {
					t.Errorf("got %v, want %s", got, tt.want)
				}
			}
			if len(asked) != 1 || asked[0] != "/api/v1/nodes" {
				t.Errorf("asked %v", asked)
			}
		})
	}
}
