package gcptest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// operation is something that a service has begun to do. Each look at it is a step.
type operation struct {
	service           gcp.Service
	name, kind        string // "operation-1", "CREATE_NODE_POOL"
	project, location string
	target            string // the path of what it is about
	left, steps       int
	done              bool
	failed            *Error
	began             time.Time

	finish func(failed *Error)
	fault  *OperationFault
}

type operations struct {
	all    []*operation
	polls  int
	faults []*OperationFault
	count  int
}

// OperationFault has operations fail or hang.
type OperationFault struct {
	// Kind and Target are regular expressions for the kind ("CREATE_NODE_POOL", "insert") and
	// for the path of what the operation is about; "" for all.
	Kind, Target string
	Times        int // 1 if it is 0
	// Error is how the operations fail, nil if they hang.
	Error *Error

	kind, target *regexp.Regexp
}

// SetPolls sets how many looks an operation takes, at first 2. With 0, the first answer says
// that it is done.
func (s *Server) SetPolls(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.operations.polls = n
}

// FailOperation has later operations fail or hang. The first fault that fits counts.
func (s *Server) FailOperation(f OperationFault) {
	f.kind, f.target, f.Times = regexp.MustCompile(f.Kind), regexp.MustCompile(f.Target), max(1, f.Times)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.operations.faults = append(s.operations.faults, &f)
}

// FinishOperations ends all operations that are under way, as time does, also those that hang.
func (s *Server) FinishOperations() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.operations.all {
		if o.fault != nil && o.fault.Error == nil {
			o.fault = nil
		}
		for !o.done {
			o.step()
		}
	}
}

// StartContainerOperation begins an operation that changes nothing, as GKE does by itself. The target
// is "projects/acme/locations/us-central1-a/clusters/research", or something in that.
func (s *Server) StartContainerOperation(kind, target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := strings.Split(target, "/")
	s.start(&operation{service: gcp.Container, kind: kind, project: parts[1], location: parts[3], target: target}, func(*Error) {})
}

// start begins an operation. finish is called when it ends, with nil or why it failed.
func (s *Server) start(o *operation, finish func(failed *Error)) *operation {
	s.operations.count++
	o.name = fmt.Sprintf("operation-%d", s.operations.count)
	o.began = time.Now()
	o.finish, o.steps = finish, s.operations.polls
	o.left = o.steps
	for _, f := range s.operations.faults {
		if f.Times > 0 && f.kind.MatchString(o.kind) && f.target.MatchString(o.target) {
			f.Times--
			o.fault = f
			break
		}
	}
	s.operations.all = append(s.operations.all, o)
	if o.left == 0 {
		o.step()
	}
	return o
}

// operate begins an operation that a request asks for.
func (s *Server) operate(r *request, kind, target string, finish func(failed *Error)) *operation {
	return s.start(&operation{service: r.service, kind: kind, project: r.values["project"], location: r.location(), target: target}, finish)
}

// location returns the location or the region that the path names, "" for none.
func (r *request) location() string { return cmp.Or(r.values["location"], r.values["region"]) }

// getOperation answers a look at an operation. The paths of some services name no project.
func (s *Server) getOperation(r *request) (any, error) {
	project, location, name := r.values["project"], r.location(), r.values["operation"]
	for _, o := range s.operations.all {
		if o.service == r.service && (project == "" || o.project == project) && o.location == location && o.name == name {
			o.step()
			return o, nil
		}
	}
	return nil, notFound("Not found: projects/%s/locations/%s/operations/%s.", project, location, name)
}

// MarshalJSON returns the form that the operation's service has.
func (o *operation) MarshalJSON() ([]byte, error) {
	switch o.service {
	case gcp.Container:
		return json.Marshal(ofContainer(o))
	case gcp.Compute:
		return json.Marshal(ofCompute(o))
	case gcp.ArtifactRegistry:
		return json.Marshal(ofRegistry(o))
	default:
		return json.Marshal(ofUsage(o))
	}
}

// pending returns the operation that is under way for a target, or one below it.
func (s *Server) pending(matches func(o *operation) bool) *operation {
	for _, o := range s.operations.all {
		if !o.done && matches(o) {
			return o
		}
	}
	return nil
}

func (o *operation) step() {
	if o.done || o.fault != nil && o.fault.Error == nil {
		return
	}
	if o.left--; o.left > 0 {
		return
	}
	o.done = true
	if o.fault != nil {
		o.failed = o.fault.Error
	}
	o.finish(o.failed)
}
