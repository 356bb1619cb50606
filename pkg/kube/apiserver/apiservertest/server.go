// Package apiservertest is an API server for tests and the demo: it stores objects, applies
// manifests, and can be told to fail. It knows hardly any kinds: a path is an object or a list.
// Nobody is refused anything.
package apiservertest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
)

// Server is an API server, over TLS.
type Server struct {
	*httptest.Server

	mu      sync.Mutex
	objects map[string]map[string]any
	calls   []string
	before  func(method, path string) (status int, message string)
}

// Start starts a server that has the namespace default. Close it.
func Start() *Server {
	s := &Server{objects: map[string]map[string]any{}}
	s.Put("/api/v1/namespaces/default", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "default"}})
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that went away
	s.StartTLS()
	return s
}

// Authority returns the certificate of the server's authority, as kubeconfigs have it.
func (s *Server) Authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// AuthorityData returns the certificate as GKE has it.
func (s *Server) AuthorityData() string { return base64.StdEncoding.EncodeToString(s.Authority()) }

// Before calls do before each request. A status other than 0 is the answer.
func (s *Server) Before(do func(method, path string) (status int, message string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = do
}

// Put stores an object under its path.
func (s *Server) Put(path string, object map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[path] = object
}

// Object returns the object of a path, nil if there is none.
func (s *Server) Object(path string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[path]
}

// Paths returns the paths of all objects, in order.
func (s *Server) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Calls returns the methods and paths of all requests.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if status, message := before(r.Method, r.URL.Path); status != 0 {
			fail(w, status, message)
			return
		}
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		fail(w, http.StatusUnauthorized, "Unauthorized")
		return
	}
	if r.Context().Err() != nil { // nobody waits for the answer
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method {
	case http.MethodGet:
		s.get(w, r)
	case http.MethodPatch, http.MethodPost:
		s.write(w, r, body)
	case http.MethodDelete:
		s.remove(w, r.URL.Path)
	default:
		fail(w, http.StatusMethodNotAllowed, r.Method)
	}
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	where := r.URL.Path
	if where == "/version" {
		answer(w, http.StatusOK, map[string]any{"major": "1", "minor": "34", "gitVersion": "v1.34.1-gke.1829001"})
		return
	}
	if found := s.objects[where]; found != nil {
		answer(w, http.StatusOK, found)
		return
	}
	if s.group(w, where) {
		return
	}
	if !isList(where) {
		fail(w, http.StatusNotFound, fmt.Sprintf("%s %q not found", path.Base(path.Dir(where)), path.Base(where)))
		return
	}
	s.list(w, r)
}

// list answers with the objects that have the labels that are asked for, or with their metadata.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	// listKinds are the kinds of some lists.
	listKinds := map[string]string{"jobs": "JobList", "nodes": "NodeList", "pods": "PodList"}
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	kind, version := cmp.Or(listKinds[path.Base(r.URL.Path)], "List"), "v1"
	if kind == "JobList" {
		version = "batch/v1"
	}
	metadata := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList")
	if metadata {
		kind, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	items := []any{}
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		object := s.objects[name]
		meta, _ := object["metadata"].(map[string]any)
		if !s.within(r.URL.Path, name) || !selector.Matches(labelsOf(meta)) {
			continue
		}
		if metadata {
			object = map[string]any{"kind": "PartialObjectMetadata", "apiVersion": version, "metadata": meta}
		}
		items = append(items, object)
	}
	if strings.Contains(r.Header.Get("Accept"), "as=Table") {
		answer(w, http.StatusOK, tableOf(items))
		return
	}
	answer(w, http.StatusOK, map[string]any{"kind": kind, "apiVersion": version, "metadata": map[string]any{"resourceVersion": "1"}, "items": items})
}

func labelsOf(meta map[string]any) labels.Set {
	all, _ := meta["labels"].(map[string]any)
	set := labels.Set{}
	for key, value := range all {
		set[key] = fmt.Sprint(value)
	}
	return set
}

// within reports whether an object is in a list, that of a namespace or of all.
func (s *Server) within(list, object string) bool {
	if path.Dir(object) == list {
		return true
	}
	group, resource := path.Split(list)
	return strings.HasPrefix(object, group+"namespaces/") && path.Base(path.Dir(object)) == resource
}

// isList reports whether a path is that of a list: /api/v1/nodes, /apis/GROUP/VERSION/namespaces/NAME/jobs.
func isList(where string) bool {
	parts := strings.Split(strings.Trim(where, "/"), "/")
	start := 2 // api/v1
	if parts[0] == "apis" {
		start = 3
	}
	rest := len(parts) - start
	return rest == 1 || rest == 3 && parts[start] == "namespaces"
}

// write applies or creates an object. What is in a namespace needs that.
func (s *Server) write(w http.ResponseWriter, r *http.Request, body []byte) {
	where := r.URL.Path
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if review(w, r, object) {
		return
	}
	meta, _ := object["metadata"].(map[string]any)
	if r.Method == http.MethodPost {
		where = path.Join(where, fmt.Sprint(meta["name"]))
	}
	if parts := strings.Split(where, "/namespaces/"); len(parts) == 2 && strings.Contains(parts[1], "/") {
		if name, _, _ := strings.Cut(parts[1], "/"); s.objects["/api/v1/namespaces/"+name] == nil {
			failAbout(w, http.StatusNotFound, fmt.Sprintf("namespaces %q not found", name), "namespaces")
			return
		}
	}
	if r.Method == http.MethodPost && s.objects[where] != nil {
		fail(w, http.StatusConflict, path.Base(where)+" already exists")
		return
	}
	s.objects[where] = merged(s.objects[where], object)
	play(where, s.objects[where])
	answer(w, http.StatusOK, s.objects[where])
}

func (s *Server) remove(w http.ResponseWriter, where string) {
	if s.objects[where] == nil {
		fail(w, http.StatusNotFound, path.Base(where)+" not found")
		return
	}
	for name := range s.objects {
		if name == where || strings.Contains(where, "/namespaces/") && strings.Contains(name, "/namespaces/"+path.Base(where)+"/") {
			delete(s.objects, name)
		}
	}
	answer(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
}

func merged(object, fields map[string]any) map[string]any {
	result := maps.Clone(object)
	if result == nil {
		result = map[string]any{}
	}
	for name, value := range fields {
		inner, isObject := value.(map[string]any)
		outer, wasObject := result[name].(map[string]any)
		if isObject && wasObject {
			value = merged(outer, inner)
		}
		result[name] = value
	}
	return result
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	text, err := json.Marshal(body)
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func fail(w http.ResponseWriter, status int, message string) { failAbout(w, status, message, "") }

func failAbout(w http.ResponseWriter, status int, message, kind string) {
	// reasons are the words for some codes.
	reasons := map[int]string{
		http.StatusUnauthorized: "Unauthorized", http.StatusForbidden: "Forbidden", http.StatusNotFound: "NotFound", http.StatusConflict: "AlreadyExists",
		http.StatusTooManyRequests: "TooManyRequests", http.StatusServiceUnavailable: "ServiceUnavailable", http.StatusInternalServerError: "InternalError",
	}
	answer(w, status, map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reasons[status], "message": message,
		"details": map[string]any{"kind": kind},
	})
}
