package google

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/api/artifactregistry/v1"
	"google.golang.org/api/cloudresourcemanager/v3"
	"google.golang.org/api/iam/v1"
	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
)

// policyVersion is that of policies with conditions: they must be asked for in it, so that none is
// lost when they are written.
const policyVersion = 3

type grant struct{ role, member string }

// Binding is a role and who has it, in the form that all services have.
type Binding struct {
	Role    string   `json:"role"`
	Members []string `json:"members"`
	// Condition is kept as it is.
	Condition json.RawMessage `json:"condition,omitempty"`
}

// Policy is the policy of a resource, as it was read.
type Policy struct {
	Bindings []Binding
	// write replaces the bindings, unless someone else has written since.
	write func(ctx context.Context, bindings []Binding) error
}

// access is what some accounts may do with a resource.
type access struct {
	*Project
	id     infra.ID
	grants []grant
	// read reads the policy of a resource by its name, of.
	read func(ctx context.Context, of string) (Policy, error)
	of   string
}

func (a access) Get(ctx context.Context) (infra.State, error) {
	p, err := a.read(ctx, a.of)
	if a.absent(ctx, err) {
		return infra.State{Detail: a.detail()}, nil
	}
	if err != nil {
		return infra.State{}, a.explain(err, "reading", a.id)
	}
	s := infra.State{Detail: a.detail()}
	for _, g := range a.grants {
		if !p.has(g) {
			s.Missing = append(s.Missing, g.String())
		}
	}
	if s.Exists = len(s.Missing) < len(a.grants); !s.Exists {
		s.Missing = nil
	}
	return s, nil
}

func (a access) detail() string {
	var texts []string
	for _, g := range a.grants {
		texts = append(texts, g.String())
	}
	return strings.Join(texts, ", ")
}

// String returns the grant for people: artifactregistry.reader for kn-research-nodes.
func (g grant) String() string {
	who := strings.TrimPrefix(g.member, "serviceAccount:")
	if account, _, isAccount := strings.Cut(who, "@"); isAccount {
		who = account
	}
	return strings.TrimPrefix(g.role, "roles/") + " for " + who
}

// Ensure implements infra.Actor. It reads the policy, adds what it lacks, and writes it, again when
// someone else has written meanwhile.
func (a access) Ensure(ctx context.Context, _ infra.State) error {
	return a.explain(a.change(ctx, func(p *Policy) bool {
		changed := false
		for _, g := range a.grants {
			changed = p.add(g) || changed
		}
		return changed
	}), "granting", a.id)
}

// Delete implements infra.Actor. It removes the members of the grants, also as the policy has them
// after their accounts were deleted.
func (a access) Delete(ctx context.Context) error {
	err := a.change(ctx, func(p *Policy) bool {
		changed := false
		for _, g := range a.grants {
			changed = p.remove(g) || changed
		}
		return changed
	})
	if a.absent(ctx, err) {
		return nil
	}
	return a.explain(err, "removing", a.id)
}

func (a access) change(ctx context.Context, do func(*Policy) bool) error {
	return backoff.Retry(ctx, settlesWithin, written, func() error {
		p, err := a.read(ctx, a.of)
		if err != nil || !do(&p) {
			return err
		}
		return p.write(ctx, p.Bindings)
	})
}

// written reports whether someone else has written a policy since it was read.
func written(err error) bool {
	return gcp.IsStatus(err, http.StatusConflict) || gcp.IsStatus(err, http.StatusPreconditionFailed)
}

// has reports whether the policy has a grant, without conditions.
func (p Policy) has(g grant) bool {
	return slices.ContainsFunc(p.Bindings, func(b Binding) bool {
		return b.Role == g.role && !b.Conditional() && slices.Contains(b.Members, g.member)
	})
}

// Conditional reports whether the members have the role only under a condition.
func (b Binding) Conditional() bool { return len(b.Condition) > 0 && string(b.Condition) != "null" }

// add adds a grant, and reports whether it was missing.
func (p *Policy) add(g grant) bool {
	if p.has(g) {
		return false
	}
	for i, b := range p.Bindings {
		if b.Role == g.role && !b.Conditional() {
			p.Bindings[i].Members = append(b.Members, g.member)
			return true
		}
	}
	p.Bindings = append(p.Bindings, Binding{Role: g.role, Members: []string{g.member}})
	return true
}

// remove removes a grant, and reports whether it was there. The member of a deleted account begins
// with deleted: and ends with ?uid=.
func (p *Policy) remove(g grant) bool {
	changed := false
	for i, b := range p.Bindings {
		if b.Role != g.role || b.Conditional() {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(b.Members), func(m string) bool {
			return m == g.member || strings.HasPrefix(m, "deleted:"+g.member+"?uid=")
		})
		changed = changed || len(kept) < len(b.Members)
		p.Bindings[i].Members = kept
	}
	p.Bindings = slices.DeleteFunc(p.Bindings, func(b Binding) bool { return len(b.Members) == 0 })
	return changed
}

// converted changes bindings from or to the form of a service's own client.
func converted[To, From any](from From) (To, error) {
	var to To
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, &to)
	}
	if err != nil {
		return to, fmt.Errorf("converting a policy: %w", err)
	}
	return to, nil
}

// policyOf returns a policy whose write sets the bindings of a service's own, and sends that.
func policyOf[B any](own []B, set func(context.Context, []B) error) (Policy, error) {
	bindings, err := converted[[]Binding](own)
	return Policy{Bindings: bindings, write: func(ctx context.Context, bindings []Binding) error {
		own, err := converted[[]B](bindings)
		if err != nil {
			return err
		}
		return set(ctx, own)
	}}, err
}

// ProjectPolicy reads who may do what in a project.
func (s Services) ProjectPolicy(ctx context.Context, project string) (Policy, error) {
	name := "projects/" + project
	found, err := s.Resources.Projects.GetIamPolicy(name, &cloudresourcemanager.GetIamPolicyRequest{
		Options: &cloudresourcemanager.GetPolicyOptions{RequestedPolicyVersion: policyVersion}}).Context(ctx).Do()
	if err != nil {
		return Policy{}, err
	}
	return policyOf(found.Bindings, func(ctx context.Context, b []*cloudresourcemanager.Binding) error {
		found.Bindings, found.Version = b, policyVersion
		_, err := s.Resources.Projects.SetIamPolicy(name, &cloudresourcemanager.SetIamPolicyRequest{Policy: found}).Context(ctx).Do()
		return err
	})
}

// AccountPolicy reads who may act as a service account, projects/PROJECT/serviceAccounts/EMAIL.
func (s Services) AccountPolicy(ctx context.Context, name string) (Policy, error) {
	found, err := s.IAM.Projects.ServiceAccounts.GetIamPolicy(name).OptionsRequestedPolicyVersion(policyVersion).Context(ctx).Do()
	if err != nil {
		return Policy{}, err
	}
	return policyOf(found.Bindings, func(ctx context.Context, b []*iam.Binding) error {
		found.Bindings, found.Version = b, policyVersion
		_, err := s.IAM.Projects.ServiceAccounts.SetIamPolicy(name, &iam.SetIamPolicyRequest{Policy: found}).Context(ctx).Do()
		return err
	})
}

// repositoryPolicy reads who may use a repository.
func (s Services) repositoryPolicy(ctx context.Context, name string) (Policy, error) {
	found, err := s.Registry.Projects.Locations.Repositories.GetIamPolicy(name).OptionsRequestedPolicyVersion(policyVersion).Context(ctx).Do()
	if err != nil {
		return Policy{}, err
	}
	return policyOf(found.Bindings, func(ctx context.Context, b []*artifactregistry.Binding) error {
		found.Bindings, found.Version = b, policyVersion
		_, err := s.Registry.Projects.Locations.Repositories.SetIamPolicy(name, &artifactregistry.SetIamPolicyRequest{Policy: found}).Context(ctx).Do()
		return err
	})
}

// BucketPolicy reads who may use a bucket.
func (s Services) BucketPolicy(ctx context.Context, name string) (Policy, error) {
	found, err := s.Storage.Buckets.GetIamPolicy(name).OptionsRequestedPolicyVersion(policyVersion).Context(ctx).Do()
	if err != nil {
		return Policy{}, err
	}
	return policyOf(found.Bindings, func(ctx context.Context, b []*storage.PolicyBindings) error {
		found.Bindings, found.Version = b, policyVersion
		_, err := s.Storage.Buckets.SetIamPolicy(name, found).Context(ctx).Do()
		return err
	})
}
