package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
)

// right is one thing that someone may do in a namespace.
type right struct{ verb, group, resource string }

// optionalGroup is the API group whose rights are nice to have: not every cluster has it, and jobs need none of it.
const optionalGroup = "metrics.k8s.io"

// neededOf returns what rules allow, without what nobody misses.
func neededOf(rules []rbacv1.PolicyRule) []right {
	return slices.DeleteFunc(rightsOf(rules), func(r right) bool { return r.group == optionalGroup })
}

func rightsOf(rules []rbacv1.PolicyRule) []right {
	var all []right
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					all = append(all, right{verb, group, resource})
				}
			}
		}
	}
	return all
}

// allowed reports whether rules allow it. Rules for objects with certain names don't.
func (r right) allowed(rules []rbacv1.PolicyRule) bool {
	has := func(list []string, words ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return s == "*" || slices.Contains(words, s) })
	}
	anyParent := r.resource
	if _, sub, found := strings.Cut(r.resource, "/"); found {
		anyParent = "*/" + sub
	}
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		return len(rule.ResourceNames) == 0 && has(rule.Verbs, r.verb) && has(rule.APIGroups, r.group) && has(rule.Resources, r.resource, anyParent)
	})
}

// rights looks whether the user may do what run and jobs do.
func (c *cluster) rights(ctx context.Context) Finding {
	needed := neededOf(c.wanted.userRole().Rules)
	review := authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: c.Target.Namespace}}
	if err := c.review(ctx, "authorization", "selfsubjectrulesreviews", &review); err != nil {
		return c.failed("create", "selfsubjectrulesreviews", err)
	}
	var rules []rbacv1.PolicyRule
	for _, r := range review.Status.ResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
	}
	missing := slices.DeleteFunc(needed, func(r right) bool { return r.allowed(rules) })
	if review.Status.Incomplete && len(missing) > 0 { // as on GKE, where IAM gives rights, too
		var err error
		if missing, err = c.denied(ctx, missing); err != nil {
			return c.failed("create", "selfsubjectaccessreviews", err)
		}
	}
	if len(missing) == 0 {
		return Good("all that run and jobs need")
	}
	return Bad(c.bind(ctx), "no permission to %s in namespace %s", listed(missing), c.Target.Namespace)
}

// review creates an object that is only a question, and reads the answer into it.
func (c *cluster) review(ctx context.Context, group, plural string, object any) error {
	return c.server.Send(ctx, http.MethodPost, object, object, "/apis/"+group+".k8s.io/v1", plural)
}

// denied returns those of some rights that the user does not have. It asks for each: not every
// authorizer can list what it allows.
func (c *cluster) denied(ctx context.Context, rights []right) ([]right, error) {
	var all sync.WaitGroup
	allowed, errs := make([]bool, len(rights)), make([]error, len(rights))
	for i, r := range rights {
		all.Go(func() {
			resource, sub, _ := strings.Cut(r.resource, "/")
			review := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: c.Target.Namespace, Verb: r.verb, Group: r.group, Resource: resource, Subresource: sub},
			}}
			errs[i] = c.review(ctx, "authorization", "selfsubjectaccessreviews", &review)
			allowed[i] = review.Status.Allowed
		})
	}
	all.Wait()
	var missing []right
	for i, r := range rights {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if !allowed[i] {
			missing = append(missing, r)
		}
	}
	return missing, nil
}

// bind returns the command with which an administrator gives the user the Role.
func (c *cluster) bind(ctx context.Context) string {
	var review struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	user := "USER"
	if err := c.review(ctx, "authentication", "selfsubjectreviews", &review); err == nil {
		user = cmp.Or(review.Status.UserInfo.Username, user)
	}
	return fmt.Sprintf("kubectl create rolebinding kinetic-users -n %s --role=%s --user=%s", c.Target.Namespace, userRole, user)
}

// listed returns rights as a list: create, get on jobs; list on pods.
func listed(rights []right) string {
	var parts []string
	for i := 0; i < len(rights); {
		r := rights[i]
		var verbs []string
		for ; i < len(rights) && rights[i].resource == r.resource && rights[i].group == r.group; i++ {
			verbs = append(verbs, rights[i].verb)
		}
		parts = append(parts, strings.Join(verbs, ", ")+" "+r.resource)
	}
	return strings.Join(parts, "; ")
}

// roles compares the Roles of the namespace with those of manifests/rbac. One that exists may be bound to
// someone, who would get the rights that are added to it: that is left to an administrator.
func (c *cluster) roles(ctx context.Context) Finding {
	var missing, old, commands []string
	for i, found := range c.readRoles(ctx) {
		want := c.wanted.roles[i]
		switch {
		case apierrors.IsForbidden(found.err):
			return Skip("no permission to read Roles")
		case apierrors.IsNotFound(found.err):
			missing = append(missing, want.Name)
		case found.err != nil:
			return c.failed("get", "roles", found.err)
		default:
			if more := lacking(want, found.role); len(more) > 0 {
				old = append(old, want.Name)
				commands = append(commands, c.extend(found.role, more))
			}
		}
	}
	var problem []string
	if len(missing) > 0 {
		problem = append(problem, fmt.Sprintf("namespace %s has no Role %s", c.Target.Namespace, strings.Join(missing, ", ")))
	}
	if len(old) > 0 {
		problem = append(problem, strings.Join(old, ", ")+" lacks rights that this version needs")
	}
	switch text := strings.Join(problem, "; "); {
	case text == "":
		return Good("as in manifests/rbac")
	case len(missing) == 0:
		return Bad(strings.Join(commands, " && "), "%s", text)
	case c.lacksNamespace(ctx):
		return Lacking(Namespace)
	default:
		f := Bad(c.FixCommand, "%s", text)
		f.Repair = c.createRoles
		return f
	}
}

// extend returns the command that adds rules to a Role, and takes nothing away.
func (c *cluster) extend(role rbacv1.Role, rules []rbacv1.PolicyRule) string {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	var patch []operation
	for _, r := range rules {
		patch = append(patch, operation{"add", "/rules/-", r})
	}
	if len(role.Rules) == 0 {
		patch = []operation{{"add", "/rules", rules}}
	}
	text, _ := json.Marshal(patch) // strings
	return fmt.Sprintf("kubectl patch role %s -n %s --type=json -p '%s'", role.Name, c.Target.Namespace, text)
}

type foundRole struct {
	role rbacv1.Role
	err  error
}

func (c *cluster) readRoles(ctx context.Context) []foundRole {
	found := make([]foundRole, len(c.wanted.roles))
	var all sync.WaitGroup
	for i, want := range c.wanted.roles {
		all.Go(func() { found[i].err = c.server.Get(ctx, &found[i].role, nil, c.rolesPath(), want.Name) })
	}
	all.Wait()
	return found
}

func (c *cluster) rolesPath() string {
	return "/apis/" + rbacv1.SchemeGroupVersion.String() + "/namespaces/" + c.Target.Namespace + "/roles"
}

// lacking returns the rules of a Role that another one does not grant in full.
func lacking(want, found rbacv1.Role) []rbacv1.PolicyRule {
	return slices.DeleteFunc(slices.Clone(want.Rules), func(rule rbacv1.PolicyRule) bool {
		return !slices.ContainsFunc(neededOf([]rbacv1.PolicyRule{rule}), func(r right) bool { return !r.allowed(found.Rules) })
	})
}

func (c *cluster) createRoles(ctx context.Context) (string, error) {
	var did []string
	for i, found := range c.readRoles(ctx) {
		if !apierrors.IsNotFound(found.err) {
			continue
		}
		want := c.wanted.roles[i]
		err := c.server.Send(ctx, http.MethodPost, want, nil, c.rolesPath())
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return strings.Join(did, ", "), c.asked("create", "roles").Explain("creating roles "+want.Name, err)
		}
		did = append(did, "created Role "+want.Name)
	}
	return fmt.Sprintf("%s in namespace %s", strings.Join(did, ", "), c.Target.Namespace), nil
}

// userRole is the Role of people who run jobs.
const userRole = "kinetic-user"

type wanted struct {
	roles   []rbacv1.Role
	account corev1.ServiceAccount
}

// readWanted reads manifests/rbac.
func readWanted() (w wanted, err error) {
	if w.roles, err = infra.RBAC[rbacv1.Role]("Role"); err != nil {
		return w, err
	}
	accounts, err := infra.RBAC[corev1.ServiceAccount]("ServiceAccount")
	if err != nil {
		return w, err
	}
	if len(accounts) != 1 {
		return w, fmt.Errorf("manifests/rbac has %d service accounts instead of one", len(accounts))
	}
	w.account = accounts[0]
	return w, nil
}

// userRole returns the Role of people who run jobs.
func (w wanted) userRole() rbacv1.Role {
	at := slices.IndexFunc(w.roles, func(r rbacv1.Role) bool { return r.Name == userRole })
	if at < 0 {
		return rbacv1.Role{}
	}
	return w.roles[at]
}
