package joblist

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func node(name, pool string) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.NodeLabelPool: pool}}}
}

func podOf(job, node string, chips int64, phase corev1.PodPhase) corev1.Pod {
	request := corev1.ResourceList{"google.com/tpu": *resource.NewQuantity(chips, resource.DecimalSI)}
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprint(job, node), Labels: map[string]string{api.LabelJobID: job}},
		Spec:   corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "worker", Resources: corev1.ResourceRequirements{Requests: request}}}},
		Status: corev1.PodStatus{Phase: phase}}
}

func ofNoJob(p corev1.Pod) corev1.Pod {
	p.Labels = nil
	return p
}

// serve answers with lists, in protobuf as API servers do if they can, or in JSON.
func serve(t *testing.T, inJSON bool, answers map[string]any) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
			t.Errorf("%s accepts %q", r.URL.Path, r.Header.Get("Accept"))
		}
		switch answer := answers[r.URL.Path].(type) {
		case int:
			w.Header().Set("Content-Type", runtime.ContentTypeJSON)
			w.WriteHeader(answer)
			_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":%d,"message":"nodes is forbidden: User \"me\" cannot list resource \"nodes\""}`, answer)
		default:
			write(t, w, answer, inJSON)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func write(t *testing.T, w http.ResponseWriter, answer any, inJSON bool) {
	if inJSON {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
		return
	}
	data, err := answer.(interface{ Marshal() ([]byte, error) }).Marshal()
	if err != nil {
		t.Error(err)
	}
	unknown, err := (&runtime.Unknown{Raw: data}).Marshal()
	if err != nil {
		t.Error(err)
	}
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	_, _ = w.Write(append([]byte("k8s\x00"), unknown...))
}

func TestReadUsage(t *testing.T) {
	nodes := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
		Items: []metav1.PartialObjectMetadata{node("a-1", "a"), node("a-2", "a"), node("b-1", "b"), node("plain", "")}}
	pods := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{
		podOf("two", "a-2", 4, corev1.PodRunning), podOf("two", "a-1", 4, corev1.PodPending), podOf("one", "a-1", 4, corev1.PodRunning),
		podOf("ended", "b-1", 8, corev1.PodSucceeded), podOf("lost", "gone", 8, corev1.PodRunning), podOf("waits", "", 8, corev1.PodPending),
		ofNoJob(podOf("server", "b-1", 4, corev1.PodRunning)), ofNoJob(podOf("agent", "b-1", 0, corev1.PodRunning)), ofNoJob(podOf("past", "b-1", 4, corev1.PodFailed))}}
	want := map[string]Pool{"a": {Nodes: 2, Used: 12, Jobs: []Ref{{"ml", "one"}, {"ml", "two"}}}, "b": {Nodes: 1, Used: 4, Others: []string{"ml/serverb-1"}}, "": {Nodes: 1}}
	for form, inJSON := range map[string]bool{"protobuf": false, "JSON": true} {
		got, err := ReadUsage(t.Context(), serve(t, inJSON, map[string]any{"/api/v1/nodes": nodes, "/api/v1/pods": pods}), nil)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", form, err, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	none := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	_, err := ReadUsage(t.Context(), serve(t, true, map[string]any{"/api/v1/nodes": 403, "/api/v1/pods": none}), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "listing nodes in the whole cluster: forbidden: you need the verb list on nodes there: ask an administrator for a ClusterRole") {
		t.Errorf("got %v", err)
	}
	_, err = ReadUsage(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, nil)
	if err == nil || !strings.Contains(err.Error(), "the API server can't be reached") {
		t.Errorf("got %v", err)
	}
}
