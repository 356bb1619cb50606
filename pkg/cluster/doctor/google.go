package doctor

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	container "google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// The names of the checks that others need.
const (
	CredentialsCheck  = "credentials"
	QuotaProjectCheck = "quota project"
	ProjectCheck      = "project"
	APIsCheck         = "APIs"
	GKECheck          = "GKE cluster"
	StoreCheck        = "store"
)

// GoogleOptions say what to look at in Google Cloud.
type GoogleOptions struct {
	Target config.Target
	// Problem is why nothing is known of the target, and ToldBy the check that says the same, "" for none.
	Problem error
	ToldBy  string
	Env     func(string) string
	// Accelerator is what jobs will need, nil for anything.
	Accelerator *api.Accelerator
	// Identity returns the Google service account that the pods' service account is annotated with,
	// "" for none. It is nil if the cluster can't be reached; then IdentityNeeds is wrong.
	Identity func(context.Context) (string, error)
	// IdentityNeeds is the check that Identity needs.
	IdentityNeeds string
	// Nodes returns how many nodes the cluster has for the Accelerator. It is nil if the cluster can't be reached.
	Nodes func(context.Context) (int, error)
	// Images is the repository where images go, "" if none is known.
	Images string
	// Runtime are the images of the Pathways runtime, nil if jobs don't need it.
	Runtime *RuntimeImages
	// FixCommand is the command that repairs what is safe to repair.
	FixCommand string
}

type cloud struct {
	GoogleOptions

	mu     sync.Mutex
	access access // once the credentials are found
	number int64  // of the project, 0 until it is known
	// cluster is read once for several checks.
	cluster func(context.Context) (*container.Cluster, error)
	// ofProject are the bindings of the project's policy, read once.
	ofProject func(context.Context) (infracloud.Policy, error)
	// off are the APIs that up enables and that are not enabled, read once for several checks.
	off func(context.Context) ([]string, error)
}

// access is the access to Google Cloud, and to its services.
type access struct {
	*gcp.Access
	infracloud.Services
}

// GoogleChecks returns the checks of the project and its cluster, none outside of Google Cloud, and those of the store
// and the registry of images. The latter come after that of IdentityNeeds. They contact nothing before they run.
func GoogleChecks(o GoogleOptions) (project, store []Check) {
	c := &cloud{GoogleOptions: o}
	c.cluster = Once(c.readCluster)
	c.ofProject = Once(func(ctx context.Context) (infracloud.Policy, error) {
		return c.api().ProjectPolicy(ctx, c.Target.Project)
	})
	c.off = Once(func(ctx context.Context) ([]string, error) { return c.api().MissingAPIs(ctx, c.Target.Project) })
	if c.knowsProject() {
		project = []Check{
			c.check(CredentialsCheck, FilesWithin, c.credentials),
			c.check(QuotaProjectCheck, AnswerWithin, c.quotaProject, CredentialsCheck),
			c.check(ProjectCheck, AnswerWithin, c.project, CredentialsCheck),
			c.check("billing", Within, c.billing, ProjectCheck),
			c.check(APIsCheck, Within, c.apis, ProjectCheck),
			c.check(GKECheck, Within, c.state, ProjectCheck),
			c.check("node pools", Within, c.pools, ProjectCheck),
			c.check("node metadata", Within, c.metadata, ProjectCheck),
			c.check("node lifetime", Within, c.lifetime, ProjectCheck),
			c.check("quota", Within, c.quota, ProjectCheck),
		}
	}
	store = c.store()
	if c.knowsProject() {
		check := Check{Group: store[0].Group, Name: "Workload Identity", Needs: []string{ProjectCheck, o.IdentityNeeds}, Within: Within, Run: c.identity}
		if o.Identity == nil { // it will not run
			check.Within = 0
		}
		store = append(store, check)
	}
	store = append(store, c.images())
	if o.Runtime != nil {
		store = append(store, o.Runtime.check())
	}
	return project, store
}

func (c *cloud) knowsProject() bool { return c.Target.GKE && c.Target.Project != "" }

func (c *cloud) check(name string, within time.Duration, run func(context.Context) Finding, needs ...string) Check {
	return Check{Group: "Project " + c.Target.Project, Name: name, Needs: needs, Within: within, Run: run}
}

func (c *cloud) credentials(ctx context.Context) Finding {
	found, err := gcp.New(ctx, c.Env)
	if err != nil {
		return Failed(err)
	}
	services, err := infracloud.NewServices(ctx, found)
	if err != nil {
		return Failed(err)
	}
	c.mu.Lock()
	c.access = access{found, services}
	c.mu.Unlock()
	return Good("%s", cmp.Or(found.Account(), "application default credentials"))
}

// api returns the access. The credentials were found before.
func (c *cloud) api() access {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.access
}

// failed returns the finding for a request that has failed. What other checks say is not repeated.
func (c *cloud) failed(ctx context.Context, err error, doing string) Finding {
	err = c.api().Explain(err, c.Target.Project, doing)
	switch {
	case c.knowsProject() && c.api().ChargesOther(err, c.Target.Project):
		return Lacking(QuotaProjectCheck)
	case c.knowsProject() && c.isOff(err):
		return c.withoutAPI(ctx, err)
	case isUnusable(err) && c.lacksCluster(ctx):
		return Lacking(GKECheck)
	}
	return failed(err)
}

// withoutAPI returns the finding for a request to an API that is not enabled. If the check of the APIs doesn't say
// so, this one does: it may not read them, or one was enabled a moment ago.
func (c *cloud) withoutAPI(ctx context.Context, err error) Finding {
	if c.lacksCluster(ctx) { // up enables them
		return Lacking(GKECheck)
	}
	if off, unread := c.off(ctx); unread == nil && len(off) > 0 {
		return Lacking(APIsCheck)
	}
	return Failed(err)
}

// lacking returns the finding that a check needs something that comes with the cluster and is missing. If the
// cluster is missing, that is what it needs.
func (c *cloud) lacking(ctx context.Context, need string) Finding {
	if c.lacksCluster(ctx) {
		need = GKECheck
	}
	return Lacking(need)
}

// lacksCluster reports whether the project is known to have no such cluster. Then nothing is there that
// comes with it.
func (c *cloud) lacksCluster(ctx context.Context) bool {
	if !c.knowsProject() {
		return false
	}
	_, err := c.cluster(ctx)
	return errors.As(err, new(*gke.NoClusterError)) || c.isDisabled(err) || isUnusable(err)
}

// isDisabled reports whether an error says that an API is not enabled in the project.
func (c *cloud) isDisabled(err error) bool { return c.api().IsDisabled(err, c.Target.Project) }

// isOff reports whether an error says that one of the APIs is not enabled that the check of them looks at.
func (c *cloud) isOff(err error) bool {
	return c.isDisabled(err) && slices.ContainsFunc(infracloud.APIs(), func(name string) bool { return strings.Contains(err.Error(), name) })
}

// isUnusable reports whether an error says that there is no such project, or that the account may not use it at
// all.
func isUnusable(err error) bool {
	var told interface{ Kind() api.ErrorKind }
	return gcp.IsStatus(err, http.StatusForbidden) && errors.As(err, &told) && told.Kind() == api.KindNotFound
}

// isRefused reports whether an error says that the account may not do something, although the API is enabled.
func isRefused(err error) bool {
	disabled, _ := gcp.DisabledAPI(err)
	return gcp.IsStatus(err, http.StatusForbidden) && disabled == ""
}

// failed returns the finding for an error that says what was being done. Who may not look can't know
// whether something is wrong.
func failed(err error) Finding {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Bad("", "Google Cloud has not answered in time")
	case gcp.IsStatus(err, http.StatusForbidden) && !isUnusable(err):
		return Skip("%v", err)
	}
	return Failed(err)
}

func (c *cloud) wanted() gke.Cluster {
	return gke.Cluster{Project: c.Target.Project, Location: c.Target.Zone, Name: c.Target.Cluster}
}

func (c *cloud) readCluster(ctx context.Context) (*container.Cluster, error) {
	client, err := gke.New(ctx, c.api().Access, c.wanted())
	if err != nil {
		return nil, err
	}
	return client.Get(ctx)
}
