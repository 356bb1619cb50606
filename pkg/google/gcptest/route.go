package gcptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// service is one of Google Cloud's APIs.
type service struct {
	name gcp.Service
	// base is what of the paths belongs to the endpoint: "/", or "/compute/v1/".
	base   string
	routes []route
	// always means that the API can't be disabled.
	always bool
}

// route is a method of a service. Handlers hold the server's lock.
type route struct {
	method, pattern string
	// permission is the one that the method needs, "" for none.
	permission string
	handle     func(r *request) (any, error)
}

// request is one that a route was found for.
type request struct {
	server  *Server
	service gcp.Service
	project *Project // nil if the path names none
	values  map[string]string
	query   url.Values
	body    []byte
}

// read decodes the body. Like the real services, it refuses fields that it doesn't know.
func (r *request) read(into any) error {
	decoder := json.NewDecoder(strings.NewReader(string(r.body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return badRequest("Invalid JSON payload received. %v", err)
	}
	return nil
}

// with returns a handler that is given what the path names, or answers that there is no such thing.
func with[T any](find func(r *request) (T, error), handle func(r *request, found T) (any, error)) func(r *request) (any, error) {
	return func(r *request) (any, error) {
		thing, err := find(r)
		if err != nil {
			return nil, err
		}
		return handle(r, thing)
	}
}

func found[T any](_ *request, thing T) (any, error) { return thing, nil }

// match compares a path with a pattern such as "v1/projects/{project}/services/{service}:enable",
// where {name...} stands for the rest.
func match(pattern, path string) (map[string]string, bool) {
	values := map[string]string{}
	want, got := strings.Split(pattern, "/"), strings.Split(strings.Trim(path, "/"), "/")
	for i, part := range want {
		if name, rest := strings.CutSuffix(part, "...}"); rest && i < len(got) {
			values[name[1:]] = strings.Join(got[i:], "/")
			return values, true
		}
		if i >= len(got) {
			return nil, false
		}
		text, verb := cutVerb(part)
		value, gotVerb := cutVerb(got[i])
		variable := strings.HasPrefix(text, "{")
		if verb != gotVerb || !variable && text != value {
			return nil, false
		}
		if variable {
			values[strings.Trim(text, "{}")] = value
		}
	}
	return values, len(want) == len(got)
}

// cutVerb splits the last part of a path before the verb of a custom method.
func cutVerb(part string) (value, verb string) {
	if i := strings.LastIndexByte(part, ':'); i >= 0 {
		return part[:i], part[i+1:]
	}
	return part, ""
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == tokenPath {
		s.serveToken(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	call, fault := s.begin(r, name, path)
	if s.wait(r) != nil {
		return
	}
	status, answer := s.answer(r, name, path, body, fault)
	s.end(call, status)
	if fault != nil && (fault.Reset || fault.Lost) {
		reset(w)
		return
	}
	if fault != nil && fault.RetryAfter != "" {
		w.Header().Set("Retry-After", fault.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(answer) //nolint:gosec // JSON, for tests
}

func reset(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}

// answer does what a request asks for, unless a fault prevents it.
func (s *Server) answer(r *http.Request, name, path string, body []byte, fault *Fault) (status int, answer []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fault != nil && !fault.Lost {
		return fault.answer()
	}
	status = http.StatusOK
	done, err := s.handle(r, name, path, body)
	if err != nil {
		refused := &Error{Code: http.StatusInternalServerError, Message: err.Error()}
		errors.As(err, &refused)
		status, done = refused.Code, refused.json()
	}
	if done == nil {
		done = struct{}{}
	}
	// State is encoded while nothing changes it.
	if answer, err = json.Marshal(done); err != nil {
		return http.StatusInternalServerError, []byte(err.Error())
	}
	return status, answer
}

func (s *Server) handle(r *http.Request, name, path string, body []byte) (any, error) {
	if !s.tokens.accepts(r.Header.Get("Authorization")) {
		return nil, &Error{Code: http.StatusUnauthorized, Reason: "ACCESS_TOKEN_EXPIRED",
			Message: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential."}
	}
	i := slices.IndexFunc(s.services, func(each *service) bool { return string(each.name) == name })
	if i < 0 {
		return nil, notFound("There is no service %s.", name)
	}
	for _, route := range s.services[i].routes {
		values, matches := match(route.pattern, path)
		if !matches || route.method != r.Method {
			continue
		}
		request := &request{server: s, service: s.services[i].name, values: values, query: r.URL.Query(), body: body}
		if err := s.charge(r.Header.Get("X-Goog-User-Project"), s.services[i]); err != nil {
			return nil, err
		}
		if err := s.admit(request, s.services[i], route); err != nil {
			return nil, err
		}
		return route.handle(request)
	}
	return nil, notFound("The server has no method %s %s.", r.Method, path)
}

// find returns the project with an ID or a number, nil if there is none.
func (s *Server) find(id string) *Project {
	for _, p := range s.projects {
		if p.ID == id || strconv.FormatInt(p.Number, 10) == id {
			return p
		}
	}
	return nil
}

// charge returns why a request to a service may not be charged to the project that its header names, ""
// for none. The services look at that project first, whatever project the request is about.
func (s *Server) charge(project string, each *service) error {
	if project == "" {
		return nil
	}
	api := each.name.API()
	refused := &Error{Code: http.StatusForbidden, Reason: "USER_PROJECT_DENIED", Metadata: map[string]string{"service": api, "consumer": "projects/" + project}}
	switch p := s.find(project); {
	case p == nil:
		refused.Code, refused.Message = http.StatusBadRequest, fmt.Sprintf("Project 'project:%s' not found or deleted.", project)
	case p.Closed:
		refused.Message = fmt.Sprintf("Caller does not have required permission to use project %s. Grant the caller the roles/serviceusage.serviceUsageConsumer role, "+
			"or a custom role with the serviceusage.services.use permission, by visiting https://console.developers.google.com/iam-admin/iam/project?project=%[1]s and then retry. "+
			"Propagation of the new permission may take a few minutes.", project)
	case !each.always && !p.APIs[api]:
		return disabled(api, p)
	default:
		return nil
	}
	return refused
}

// admit returns why the account may not use a route.
func (s *Server) admit(r *request, each *service, route route) error {
	id, named := r.values["project"]
	if named && id != "-" {
		r.project = s.find(id)
		if r.project == nil {
			return &Error{Code: http.StatusForbidden, Reason: "CONSUMER_INVALID", Message: fmt.Sprintf("Permission denied on resource project %s.", id)}
		}
		api := each.name.API()
		if !each.always && (!r.project.APIs[api] || s.cloud.lags.Refuses(NewAPI, enabledAPI(r.project.ID, api), "requests")) {
			return disabled(api, r.project)
		}
	}
	if route.permission != "" && s.denied[route.permission] {
		return denied(route.permission, "projects/"+id)
	}
	return nil
}

// page returns one page of a list, and the token of the next.
func page[T any](r *request, items []T) ([]T, string) {
	size := r.server.pageSize
	for _, name := range []string{"pageSize", "maxResults"} {
		if n, err := strconv.Atoi(r.query.Get(name)); err == nil && n > 0 {
			size = min(size, n)
		}
	}
	begin, _ := strconv.Atoi(strings.TrimPrefix(r.query.Get("pageToken"), "from-"))
	begin = min(begin, len(items))
	end := min(begin+size, len(items))
	if end == len(items) {
		return items[begin:], ""
	}
	return items[begin:end], fmt.Sprintf("from-%d", end)
}
