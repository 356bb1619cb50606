package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/versions"
)

// The names of the checks that others need.
const (
	Kubeconfig = "kubeconfig"
	APIServer  = "API server"
	Namespace  = "namespace"
	Account    = "service account"
)

// ClusterOptions say what to look at.
type ClusterOptions struct {
	// Target is the cluster, and Problem why there is none. ProblemNeeds is the check without which the
	// problem does not matter, "" for none.
	Target       config.Target
	Problem      error
	ProblemNeeds string
	// Config connects to it, unless Problem is set.
	Config *rest.Config
	// Client is the version of this client, for the runners of the namespace.
	Client versions.Client
	// Accelerator is what jobs will need, nil for anything. Queue is their queue in Kueue.
	Accelerator *api.Accelerator
	Queue       string
	// Pathways means that jobs will have the Pathways runtime, on the Accelerator.
	Pathways bool
	// FixCommand is the command that repairs what is safe to repair.
	FixCommand string
	Now        func() time.Time
}

// cluster is the cluster that the checks look at.
type cluster struct {
	ClusterOptions
	server *apiserver.Client
	// wanted is what the namespace should have.
	wanted wanted
	// inventory is read once for several checks.
	inventory func(context.Context) (versions.Inventory, error)
	// phase is that of the namespace, read once for several checks.
	phase func(context.Context) (string, error)
}

// ClusterChecks returns the checks of a cluster. They contact nothing before they run.
func ClusterChecks(o ClusterOptions) []Check {
	c := &cluster{ClusterOptions: o}
	if c.Problem == nil {
		c.server, c.Problem = apiserver.NewClient(o.Config, nil)
	}
	if c.Problem == nil {
		c.wanted, c.Problem = readWanted()
	}
	c.inventory = Once(func(ctx context.Context) (versions.Inventory, error) {
		return versions.Read(ctx, o.Config, versions.Options{Namespace: o.Target.Namespace, Client: o.Client, Within: Within}), nil
	})
	c.phase = Once(func(ctx context.Context) (string, error) {
		var found corev1.Namespace
		err := c.server.Get(ctx, &found, nil, "/api/v1/namespaces", o.Target.Namespace)
		return string(found.Status.Phase), err
	})
	group := "Cluster"
	if name := cmp.Or(o.Target.Context, o.Target.From.Context); name != "" {
		group = fmt.Sprintf("Cluster of %s, namespace %s", name, o.Target.Namespace)
	}
	var needed []string
	if c.Problem != nil && c.ProblemNeeds != "" {
		needed = append(needed, c.ProblemNeeds)
	}
	check := func(name string, within time.Duration, run func(context.Context) Finding, needs ...string) Check {
		if c.Problem != nil { // none but the first will run
			within = 0
		}
		return Check{Group: group, Name: name, Needs: needs, Within: within, Run: run}
	}
	checks := []Check{
		check(Kubeconfig, 0, c.kubeconfig, needed...),
		check(APIServer, AnswerWithin, c.version, Kubeconfig),
		check("clock", 0, c.clock, APIServer),
		check(Namespace, Within, c.namespace, APIServer),
		check("rights", Within, c.rights, APIServer),
		check("Roles", Within, c.roles, APIServer),
		check(Account, Within, c.account, APIServer),
		check("LeaderWorkerSet", Within, c.leaderWorkerSet, APIServer),
		check("Kueue", Within, c.kueue, APIServer),
		check("FUSE driver", Within, c.fuse, APIServer),
		check("nodes", Within, c.nodes, APIServer),
		check("waiting jobs", Within, c.waiting, APIServer),
		check("runners", Within, c.runners, APIServer),
	}
	if c.Pathways {
		checks = append(checks, check("Pathways", Within, c.pathways, APIServer))
	}
	return checks
}

func (c *cluster) kubeconfig(context.Context) Finding {
	if c.Problem != nil {
		return Failed(c.Problem)
	}
	where, from := c.Target.Context, c.Target.From
	if where == "" {
		return Good("%s, namespace %s", from.Context, c.Target.Namespace)
	}
	return Good("context %s (%s), namespace %s (%s)", where, from.Context, c.Target.Namespace, from.Namespace)
}

func (c *cluster) version(ctx context.Context) Finding {
	var info struct{ GitVersion string }
	if err := c.server.Get(ctx, &info, nil, "/version"); err != nil {
		return Bad("", "%s", c.asked("get", "/version").Reason(err, AnswerWithin))
	}
	return Good("Kubernetes %s", info.GitVersion)
}

// clockOff is how much the clocks may differ. Google's servers refuse tokens that are signed
// minutes away from their time, and ages of jobs become wrong.
const clockOff = time.Minute

func (c *cluster) clock(context.Context) Finding {
	switch ahead := c.server.Ahead().Round(time.Second); {
	case ahead > clockOff:
		return Bad("set this machine's clock", "it is %s behind the API server's", ahead)
	case ahead < -clockOff:
		return Bad("set this machine's clock", "it is %s ahead of the API server's", -ahead)
	}
	return Good("the same as the API server's")
}

func (c *cluster) namespace(ctx context.Context) Finding {
	name := c.Target.Namespace
	phase, err := c.phase(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return Bad("kubectl create namespace "+name, "there is no namespace %s", name)
	case apierrors.IsForbidden(err):
		return Skip("no permission to check whether namespace %s exists", name)
	case err != nil:
		return c.failed("get", "namespaces", err)
	case phase == string(corev1.NamespaceTerminating):
		return Bad("", "%s is being deleted: wait until it is gone, or choose another with --namespace", name)
	}
	return Good("%s", name)
}

// lacksNamespace reports whether the namespace does not exist, so that nothing in it does.
func (c *cluster) lacksNamespace(ctx context.Context) bool {
	_, err := c.phase(ctx)
	return apierrors.IsNotFound(err)
}

// account looks for the service account of the pods.
func (c *cluster) account(ctx context.Context) Finding {
	namespace, name := c.Target.Namespace, api.DefaultServiceAccount
	err := c.server.Get(ctx, &struct{}{}, nil, "/api/v1/namespaces", namespace, "serviceaccounts", name)
	switch {
	case apierrors.IsNotFound(err) && c.lacksNamespace(ctx):
		return Lacking(Namespace)
	case apierrors.IsNotFound(err):
		f := Bad(fmt.Sprintf("kubectl create serviceaccount %s -n %s", name, namespace),
			"namespace %s has no service account %s: jobs can't start", namespace, name)
		f.Repair = c.createAccount
		return f
	case apierrors.IsForbidden(err):
		return Skip("no permission to read service account %s", name)
	case err != nil:
		return c.failed("get", "serviceaccounts", err)
	}
	return Good("%s", name)
}

// Identity returns a function that reads which Google service account the pods' service account is annotated
// with, "" for none. The error is a doctor.NeedError if there is no such account, or no namespace.
func Identity(o ClusterOptions) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		server, err := apiserver.NewClient(o.Config, nil)
		if err != nil {
			return "", err
		}
		var account corev1.ServiceAccount
		namespace := []string{"/api/v1/namespaces", o.Target.Namespace}
		err = server.Get(ctx, &account, nil, append(namespace, "serviceaccounts", api.DefaultServiceAccount)...)
		if apierrors.IsNotFound(err) {
			if apierrors.IsNotFound(server.Get(ctx, &struct{}{}, nil, namespace...)) {
				return "", NeedError(Namespace)
			}
			return "", NeedError(Account)
		}
		if err != nil {
			request := apiserver.Request{Verb: "get", Resource: "serviceaccounts", Namespace: o.Target.Namespace}
			return "", errors.New(request.Reason(err, Within))
		}
		return account.Annotations[infra.WorkloadIdentity], nil
	}
}

func (c *cluster) createAccount(ctx context.Context) (string, error) {
	did := fmt.Sprintf("created the service account %s in namespace %s", api.DefaultServiceAccount, c.Target.Namespace)
	err := c.server.Send(ctx, http.MethodPost, c.wanted.account, nil, "/api/v1/namespaces", c.Target.Namespace, "serviceaccounts")
	if apierrors.IsAlreadyExists(err) {
		err = nil
	}
	return did, c.asked("create", "serviceaccounts").Explain("creating serviceaccounts "+api.DefaultServiceAccount, err)
}

func (c *cluster) asked(verb, resource string) apiserver.Request {
	return apiserver.Request{Verb: verb, Resource: resource, Namespace: c.Target.Namespace}
}

func (c *cluster) failed(verb, resource string, err error) Finding {
	return Bad("", "%s", c.asked(verb, resource).Reason(err, Within))
}
