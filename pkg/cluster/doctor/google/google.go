// Package google has the checks of a project of Google Cloud, of a cluster of GKE there, and of the
// bucket that is the store.
package google

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	container "google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// The names of the checks that others need.
const (
	Credentials  = "credentials"
	QuotaProject = "quota project"
	Project      = "project"
	APIs         = "APIs"
	Cluster      = "GKE cluster"
	Store        = "store"
)

// Options say what to look at.
type Options struct {
	Target target.Target
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
	// Images is the repository where images go, "" if none is known.
	Images string
	// Runtime are the images of the Pathways runtime, nil if jobs don't need it.
	Runtime *Runtime
	// FixCommand is the command that repairs what is safe to repair.
	FixCommand string
}

// cloud is what the checks look at.
type cloud struct {
	Options

	mu     sync.Mutex
	access *gcp.Access // once the credentials are found
	number int64       // of the project, 0 until it is known
	// cluster is read once for several checks.
	cluster func(context.Context) (*container.Cluster, error)
	// ofProject are the bindings of the project's policy, read once.
	ofProject func(context.Context) ([]granted, error)
	// off are the APIs that up enables and that are not enabled, read once for several checks.
	off func(context.Context) ([]string, error)
}

// Checks returns the checks of the project and its cluster, none outside of Google Cloud, and those of the store
// and the registry of images. The latter come after that of IdentityNeeds. They contact nothing before they run.
func Checks(o Options) (project, store []doctor.Check) {
	c := &cloud{Options: o}
	c.cluster = doctor.Once(c.readCluster)
	c.ofProject = doctor.Once(c.readProjectPolicy)
	c.off = doctor.Once(func(ctx context.Context) ([]string, error) { return c.readOff(ctx, c.Target.Project) })
	if c.knowsProject() {
		project = []doctor.Check{
			c.check(Credentials, doctor.FilesWithin, c.credentials),
			c.check(QuotaProject, doctor.AnswerWithin, c.quotaProject, Credentials),
			c.check(Project, doctor.AnswerWithin, c.project, Credentials),
			c.check("billing", doctor.Within, c.billing, Project),
			c.check(APIs, doctor.Within, c.apis, Project),
			c.check(Cluster, doctor.Within, c.state, Project),
			c.check("node pools", doctor.Within, c.pools, Project),
			c.check("node metadata", doctor.Within, c.metadata, Project),
			c.check("node lifetime", doctor.Within, c.lifetime, Project),
			c.check("quota", doctor.Within, c.quota, Project),
		}
	}
	store = c.store()
	if c.knowsProject() {
		check := doctor.Check{Group: store[0].Group, Name: "Workload Identity", Needs: []string{Project, o.IdentityNeeds}, Within: doctor.Within, Run: c.identity}
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

// knowsProject reports whether the project is checked.
func (c *cloud) knowsProject() bool { return c.Target.GKE && c.Target.Project != "" }

func (c *cloud) check(name string, within time.Duration, run func(context.Context) doctor.Finding, needs ...string) doctor.Check {
	return doctor.Check{Group: "Project " + c.Target.Project, Name: name, Needs: needs, Within: within, Run: run}
}

func (c *cloud) credentials(ctx context.Context) doctor.Finding {
	access, err := gcp.New(ctx, c.Env)
	if err != nil {
		return doctor.Failed(err)
	}
	c.mu.Lock()
	c.access = access
	c.mu.Unlock()
	if access.Account() == "" {
		return doctor.Good("application default credentials")
	}
	return doctor.Good("%s", access.Account())
}

// api returns the access. The credentials were found before.
func (c *cloud) api() *gcp.Access {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.access
}

// failed returns the finding for a request that has failed. What other checks say is not repeated.
func (c *cloud) failed(ctx context.Context, err error, doing string) doctor.Finding {
	err = c.api().Explain(err, c.Target.Project, doing)
	switch {
	case c.knowsProject() && c.api().ChargesOther(err, c.Target.Project):
		return doctor.Lacking(QuotaProject)
	case c.knowsProject() && c.isOff(err):
		return c.withoutAPI(ctx, err)
	case isUnusable(err) && c.lacksCluster(ctx):
		return doctor.Lacking(Cluster)
	}
	return failed(err)
}

// withoutAPI returns the finding for a request to an API that is not enabled. If the check of the APIs doesn't say
// so, this one does: it may not read them, or one was enabled a moment ago.
func (c *cloud) withoutAPI(ctx context.Context, err error) doctor.Finding {
	if c.lacksCluster(ctx) { // up enables them
		return doctor.Lacking(Cluster)
	}
	if off, unread := c.off(ctx); unread == nil && len(off) > 0 {
		return doctor.Lacking(APIs)
	}
	return doctor.Failed(err)
}

// lacking returns the finding that a check needs something that comes with the cluster and is missing. If the
// cluster is missing, that is what it needs.
func (c *cloud) lacking(ctx context.Context, need string) doctor.Finding {
	if c.lacksCluster(ctx) {
		need = Cluster
	}
	return doctor.Lacking(need)
}

// lacksCluster reports whether the project is known to have no such cluster. Then nothing is there that
// comes with it.
func (c *cloud) lacksCluster(ctx context.Context) bool {
	if !c.knowsProject() {
		return false
	}
	_, err := c.cluster(ctx)
	var missing *gke.NoClusterError
	return errors.As(err, &missing) || c.isDisabled(err) || isUnusable(err)
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
func failed(err error) doctor.Finding {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return doctor.Bad("", "Google Cloud has not answered in time")
	case gcp.IsStatus(err, http.StatusForbidden) && !isUnusable(err):
		return doctor.Skip("%v", err)
	}
	return doctor.Failed(err)
}

// wanted returns where the cluster should be.
func (c *cloud) wanted() gke.Cluster {
	return gke.Cluster{Project: c.Target.Project, Location: c.Target.Zone, Name: c.Target.Cluster}
}

func (c *cloud) readCluster(ctx context.Context) (*container.Cluster, error) {
	client, err := gke.New(ctx, c.api(), c.wanted())
	if err != nil {
		return nil, err
	}
	return client.Get(ctx)
}
