package kube

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// objectServer keeps objects by path, as an API server does. refuse, if set, answers
// requests first.
type objectServer struct {
	mu      sync.Mutex
	objects map[string]map[string]any
	asked   []string
	refuse  func(w http.ResponseWriter, r *http.Request) bool
}

// at returns the object with a path, nil if there is none. The server may still handle requests that were given up.
func (s *objectServer) at(path string) map[string]any { return s.all()[path] }

func (s *objectServer) all() map[string]map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.objects)
}

func (s *objectServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, strings.TrimSuffix(r.Method+" "+r.URL.Path+"?"+r.URL.Query().Get("dryRun"), "?"))
	if s.refuse != nil && s.refuse(w, r) {
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodDelete:
		if s.objects[r.URL.Path] == nil {
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		delete(s.objects, r.URL.Path)
		answerWith(w, http.StatusOK, metav1.Status{Status: metav1.StatusSuccess})
	case http.MethodPatch:
		if r.URL.Query().Get("dryRun") != "" {
			s.merge(w, r)
			return
		}
		var steps []struct{ Value any }
		_ = json.NewDecoder(r.Body).Decode(&steps)
		metadata := s.objects[r.URL.Path]["metadata"].(map[string]any)
		metadata["ownerReferences"] = append(metadata["ownerReferences"].([]any), steps[0].Value)
		answerWith(w, http.StatusOK, s.objects[r.URL.Path])
	default:
		if o, found := s.objects[r.URL.Path]; found {
			answerWith(w, http.StatusOK, o)
			return
		}
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

// merge answers a merge patch that is not to be kept.
func (s *objectServer) merge(w http.ResponseWriter, r *http.Request) {
	merged := maps.Clone(s.objects[r.URL.Path])
	if err := json.NewDecoder(r.Body).Decode(&merged); err != nil {
		fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	rewrite(merged)
	answerWith(w, http.StatusOK, merged)
}

// rewrite changes values of an object to the form that the server returns.
func rewrite(o map[string]any) {
	if spec, ok := o["spec"].(map[string]any); ok && spec["size"] == "1024Mi" {
		spec["size"] = "1Gi"
	}
	if texts, ok := o["stringData"].(map[string]any); ok {
		data := map[string]any{}
		for name, text := range texts {
			data[name] = base64.StdEncoding.EncodeToString([]byte(text.(string)))
		}
		o["data"] = data
		delete(o, "stringData")
	}
}

func (s *objectServer) post(w http.ResponseWriter, r *http.Request) {
	var o map[string]any
	data, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(data, &o); err != nil {
		fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	metadata := o["metadata"].(map[string]any)
	name := path.Join(r.URL.Path, metadata["name"].(string))
	if _, exists := s.objects[name]; exists {
		fail(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
		return
	}
	rewrite(o)
	metadata["uid"] = "uid-of-" + metadata["name"].(string)
	metadata["managedFields"] = []any{map[string]any{"manager": "test"}}
	if r.URL.Query().Get("dryRun") == "" {
		s.objects[name] = o
	}
	answerWith(w, http.StatusCreated, o)
}

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	failWith(w, code, reason, string(reason))
}

func failWith(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	answerWith(w, code, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message})
}

// What an API server says of a request that it forbids: for want of a right, for a quota, and because of a policy.
const (
	noRight   = `it is forbidden: User "ann" cannot create resource "x" in API group "" in the namespace "ml"`
	fullQuota = "it is forbidden: exceeded quota: small, requested: count/x=1, used: count/x=1, limited: count/x=1"
	aPolicy   = "ValidatingAdmissionPolicy 'owners' with binding 'owners' denied request: it cannot be created without an owner"
)

func answerWith(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

// start makes a server, and a Submission to it with a Job, the runner and more.
func start(t *testing.T, more ...*unstructured.Unstructured) (*objectServer, *Submission) {
	t.Helper()
	s := &objectServer{objects: map[string]map[string]any{}}
	http := httptest.NewServer(s)
	t.Cleanup(http.Close)
	client, err := NewClient(&rest.Config{Host: http.URL, QPS: -1}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, New(client).Submission(append([]*unstructured.Unstructured{runnerMap(), theJob("--call", "1")}, more...))
}

func object(version, kind, name string, content map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range content {
		o.Object[key] = value
	}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetName(name)
	o.SetNamespace("ml")
	return o
}

func theJob(args ...any) *unstructured.Unstructured {
	worker := map[string]any{"name": api.ContainerName, "args": args}
	job := object("batch/v1", "Job", "kinetic-a1", map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{worker}}}}})
	job.SetLabels(map[string]string{api.LabelJobID: "a1"})
	return job
}

func runnerMap() *unstructured.Unstructured {
	return object("v1", "ConfigMap", api.RunnerPrefix+"12", map[string]any{"binaryData": map[string]any{"remote_runner.py": "UEs="}, "immutable": true})
}

func claimOf(size string) *unstructured.Unstructured {
	return object("v1", "PersistentVolumeClaim", "scratch", map[string]any{"spec": map[string]any{"size": size}})
}

func textOf(text string) *unstructured.Unstructured {
	return object("v1", "Secret", "token", map[string]any{"stringData": map[string]any{"TOKEN": text}})
}

const (
	core    = "/api/v1/namespaces/ml/"
	jobPath = "/apis/batch/v1/namespaces/ml/jobs/kinetic-a1"
)

var a1 = api.Spec{ID: "a1", Namespace: "ml"}

// ownersOf returns the UIDs of an object's owners.
func (s *objectServer) ownersOf(name string) []string {
	o := unstructured.Unstructured{Object: s.objects[name]}
	var owners []string
	for _, r := range o.GetOwnerReferences() {
		owners = append(owners, string(r.UID))
	}
	return owners
}

func (s *objectServer) index(request string) int { return slices.Index(s.asked, request) }

func (s *objectServer) put(o *unstructured.Unstructured, owner string) {
	name := core + plurals()[o.GetKind()] + "/" + o.GetName()
	rewrite(o.Object)
	if owner != "" {
		o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Job", Name: owner, UID: "another"}})
	}
	s.objects[name] = o.Object
}

// lose drops the answers to the first n creations of a Job, which the server has
// carried out.
func (s *objectServer) lose(n int) { s.losing(path.Dir(jobPath), n) }

func (s *objectServer) losing(collection string, n int) {
	s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || r.URL.Path != collection || n == 0 {
			return false
		}
		n--
		s.post(httptest.NewRecorder(), r)
		fail(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
		return true
	}
}
