package gcptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Policy is the policy of a resource, in the form that all services have.
type Policy struct {
	Version  int64      `json:"version,omitempty"`
	Kind     string     `json:"kind,omitempty"` // of Cloud Storage, as is the next
	Resource string     `json:"resourceId,omitempty"`
	Etag     string     `json:"etag"`
	Bindings []*Binding `json:"bindings,omitempty"`
	// AuditConfigs are kept as they are.
	AuditConfigs json.RawMessage `json:"auditConfigs,omitempty"`
}

// Binding is a role and who has it.
type Binding struct {
	Role      string          `json:"role"`
	Members   []string        `json:"members"`
	Condition json.RawMessage `json:"condition,omitempty"`
}

// Policy returns the policy of a resource: "projects/acme", "b/acme-kn-research-jobs". The caller must
// not change it.
func (s *Server) Policy(resource string) *Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.policy(resource)
}

// Grant gives a member a role.
func (s *Server) Grant(resource, role, member string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.policy(resource)
	p.Bindings = append(p.Bindings, &Binding{Role: role, Members: []string{member}})
	s.cloud.writes++
	p.Etag = s.etag()
}

// HasRole reports whether a member has a role.
func (s *Server) HasRole(resource, role, member string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.policy(resource).Bindings, func(b *Binding) bool { return b.Role == role && slices.Contains(b.Members, member) })
}

func (s *Server) policy(resource string) *Policy {
	if s.cloud.policies[resource] == nil {
		s.cloud.policies[resource] = &Policy{Version: 1, Etag: "etag-0"}
	}
	return s.cloud.policies[resource]
}

func (s *Server) etag() string { return fmt.Sprintf("etag-%d", s.cloud.writes) }

// setPolicy replaces a policy, unless it was written since it was read, or has unknown members.
// conflict is the status for the first.
func (s *Server) setPolicy(resource string, wanted *Policy, conflict int) (any, error) {
	now := s.policy(resource)
	if wanted.Etag != "" && wanted.Etag != now.Etag {
		return nil, &Error{Code: conflict, Message: "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff."}
	}
	for _, b := range wanted.Bindings {
		for _, member := range b.Members {
			if err := s.checkMember(member); err != nil {
				return nil, err
			}
		}
	}
	s.cloud.writes++
	wanted.Etag = s.etag()
	s.cloud.policies[resource] = wanted
	return wanted, nil
}

// checkMember refuses members that don't exist, or that are too new.
func (s *Server) checkMember(member string) error {
	email, isAccount := strings.CutPrefix(member, "serviceAccount:")
	switch pool, _, isIdentity := strings.Cut(email, "["); {
	case !isAccount || email == Account:
		return nil
	case isIdentity && (!s.hasPool(pool) || s.cloud.lags.Refuses(NewIdentityPool, pool, "a binding")):
		return badRequest("Identity Pool does not exist (%s). Please check that you specified a valid resource name as returned in the `name` attribute in the configuration API.", pool)
	case isIdentity:
		return nil
	}
	if s.cloud.accounts[email] == nil || s.cloud.lags.Refuses(UnknownMember, email, "policies") {
		return badRequest("Service account %s does not exist.", email)
	}
	return nil
}

func (s *Server) hasPool(pool string) bool {
	for _, c := range s.container.clusters {
		if c.WorkloadIdentityConfig != nil && c.WorkloadIdentityConfig.WorkloadPool == pool {
			return true
		}
	}
	return false
}

// forget has policies name an account as they do when it was deleted.
func (s *Server) forget(email string) {
	for _, p := range s.cloud.policies {
		for _, b := range p.Bindings {
			for i, member := range b.Members {
				if member == "serviceAccount:"+email {
					b.Members[i] = "deleted:" + member + "?uid=100000000000000000001"
				}
			}
		}
	}
}

// policyRequest reads {policy: …}, the body of most services.
func policyRequest(r *request) (*Policy, error) {
	var wanted struct {
		Policy     *Policy `json:"policy"`
		UpdateMask string  `json:"updateMask"`
	}
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	if wanted.Policy == nil {
		return nil, badRequest("The policy must be set.")
	}
	return wanted.Policy, nil
}

// policyRoutes are the methods for the policies of a service's resources. get is the method that
// reads one. exists returns the resource, or an error if there is none.
func (s *Server) policyRoutes(get, pattern, permissions string, exists func(r *request) (string, error)) []route {
	return []route{
		{get, pattern + ":getIamPolicy", permissions + ".getIamPolicy", with(exists, func(_ *request, resource string) (any, error) { return s.policy(resource), nil })},
		{http.MethodPost, pattern + ":setIamPolicy", permissions + ".setIamPolicy", with(exists, func(r *request, resource string) (any, error) {
			wanted, err := policyRequest(r)
			if err != nil {
				return nil, err
			}
			return s.setPolicy(resource, wanted, http.StatusConflict)
		})},
	}
}

// Recover ends all faults of requests and of operations that have not begun.
func (s *Server) Recover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.operations.faults = nil, nil
}
