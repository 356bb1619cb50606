package gcptest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Fault has requests fail.
type Fault struct {
	Method string // "" for all
	// Changes leaves out requests that only read.
	Changes bool
	// Path is a regular expression for the service and the path, "container/v1/projects/…"; ""
	// for all.
	Path string
	// After is how many such requests still succeed, Times how many fail then: 1 if it is 0.
	After, Times int

	// Status is the answer; its error has the Reason, and the Message if there is one. Body is
	// sent instead, if it is set.
	Status          int
	Reason, Message string
	Body            string
	RetryAfter      string
	// Reset breaks the connection off before anything is done, Lost after it was done: the
	// answer is lost.
	Reset, Lost bool

	pattern *regexp.Regexp
}

// Fail has later requests fail. The first fault that fits a request counts.
func (s *Server) Fail(f Fault) {
	f.pattern = regexp.MustCompile(f.Path)
	f.Times = max(1, f.Times)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

func (f *Fault) answer() (status int, answer []byte) {
	if f.Body != "" {
		return f.Status, []byte(f.Body)
	}
	refused := Error{Code: f.Status, Reason: f.Reason, Message: cmp.Or(f.Message, http.StatusText(f.Status))}
	answer, _ = json.Marshal(refused.json()) // of texts
	return max(f.Status, 100), answer
}

// Call is a request that was made to a service.
type Call struct {
	Service, Method string
	// Path is that of the service: "v1/projects/acme/locations/us-central1-a/clusters".
	Path  string
	Query string
	// Status is that of the answer, also if it was lost.
	Status int
	// Depth is the length of the longest chain of requests up to this one, in which each began
	// after the answer to the one before.
	Depth int
}

// String returns the method, the service and the path.
func (c Call) String() string { return c.Method + " " + c.Service + "/" + c.Path }

// calls are all requests in the order in which they began.
type calls struct {
	all     []*Call
	deepest int // of those that were answered
	// changed is closed with the next answer.
	changed chan struct{}
}

// Calls returns the requests that were made so far, in the order in which they began.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Call
	for _, c := range s.calls.all {
		all = append(all, *c)
	}
	return all
}

// Changes returns the requests that were made so far other than GET, without their queries.
func (s *Server) Changes() []string {
	var changes []string
	for _, c := range s.Calls() {
		if c.Method != http.MethodGet {
			changes = append(changes, c.String())
		}
	}
	return changes
}

// ForgetCalls has Calls start from nothing.
func (s *Server) ForgetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.all, s.calls.deepest = nil, 0
}

// Await waits until a request was answered whose Call.String matches a regular expression.
func (s *Server) Await(ctx context.Context, pattern string) error {
	expression := regexp.MustCompile(pattern)
	for {
		s.mu.Lock()
		found := slices.ContainsFunc(s.calls.all, func(c *Call) bool { return c.Status != 0 && expression.MatchString(c.String()) })
		changed := s.calls.changed
		s.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin records a request, and returns how it shall fail.
func (s *Server) begin(r *http.Request, service, path string) (*Call, *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := &Call{Service: service, Method: r.Method, Path: path, Query: r.URL.RawQuery, Depth: s.calls.deepest + 1}
	s.calls.all = append(s.calls.all, call)
	for i, f := range s.faults {
		if f.Method != "" && f.Method != r.Method || f.Changes && r.Method == http.MethodGet || !f.pattern.MatchString(service+"/"+path) {
			continue
		}
		if f.After > 0 {
			f.After--
			continue
		}
		if f.Times--; f.Times == 0 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		return call, f
	}
	return call, nil
}

// end records the answer to a request.
func (s *Server) end(c *Call, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Status = status
	s.calls.deepest = max(s.calls.deepest, c.Depth)
	close(s.calls.changed)
	s.calls.changed = make(chan struct{})
}

// Count has the requests to another server, such as that of a cluster, among Calls, and has them take as
// long as those to this one. service is what Calls names it.
func (s *Server) Count(service string, other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call, _ := s.begin(r, service, strings.TrimPrefix(r.URL.Path, "/"))
		if s.wait(r) == nil {
			other.ServeHTTP(w, r)
		}
		s.end(call, http.StatusOK)
	})
}

// wait waits for the time that an answer takes.
func (s *Server) wait(r *http.Request) error {
	s.mu.Lock()
	latency := s.latency
	s.mu.Unlock()
	if latency == 0 {
		return nil
	}
	select {
	case <-r.Context().Done():
		return r.Context().Err()
	case <-time.After(latency):
		return nil
	}
}

func bearer(header string) string { return strings.TrimPrefix(header, "Bearer ") }
