// Package google is the part of the list of resources that is in Google Cloud: APIs, accounts and
// their roles, the repository, buckets, the network, the cluster and its node pools.
package google

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"google.golang.org/api/artifactregistry/v1"
	"google.golang.org/api/cloudbilling/v1"
	"google.golang.org/api/cloudresourcemanager/v3"
	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"
	"google.golang.org/api/iam/v1"
	"google.golang.org/api/option"
	"google.golang.org/api/serviceusage/v1"
	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// Project is the project that the resources are in. It is safe for concurrent use.
type Project struct {
	Names config.Names
	// Progress is called with how far an operation is, from several goroutines.
	Progress func(id infra.ID, text string)
	// Patience is how long services may take to know what was made or enabled. New sets it. With 0 nothing is
	// waited for, as by commands that make nothing.
	Patience time.Duration

	access   *gcp.Access
	services Services

	mu    sync.Mutex
	fresh map[string]bool // the names of the service accounts that this run has made
}

// Services are clients for the services in which a cluster and what belongs to it are.
type Services struct {
	Usage      *serviceusage.Service
	IAM        *iam.Service
	Resources  *cloudresourcemanager.Service
	Billing    *cloudbilling.APIService
	Registry   *artifactregistry.Service
	Storage    *storage.Service
	Compute    *compute.Service
	Containers *container.Service
}

// New returns a project. It contacts nothing.
func New(ctx context.Context, access *gcp.Access, names config.Names) (*Project, error) {
	services, err := NewServices(ctx, access)
	return &Project{Names: names, access: access, services: services, Progress: func(infra.ID, string) {}, Patience: patience, fresh: map[string]bool{}}, err
}

// NewServices returns the clients. It contacts nothing.
func NewServices(ctx context.Context, access *gcp.Access) (Services, error) {
	var s Services
	err := errors.Join(
		client(ctx, access, gcp.ServiceUsage, serviceusage.NewService, &s.Usage),
		client(ctx, access, gcp.IAM, iam.NewService, &s.IAM),
		client(ctx, access, gcp.ResourceManager, cloudresourcemanager.NewService, &s.Resources),
		client(ctx, access, gcp.Billing, cloudbilling.NewService, &s.Billing),
		client(ctx, access, gcp.ArtifactRegistry, artifactregistry.NewService, &s.Registry),
		client(ctx, access, gcp.Storage, storage.NewService, &s.Storage),
		client(ctx, access, gcp.Compute, compute.NewService, &s.Compute),
		client(ctx, access, gcp.Container, container.NewService, &s.Containers),
	)
	return s, err
}

func client[S any](ctx context.Context, access *gcp.Access, name gcp.Service, newService func(context.Context, ...option.ClientOption) (S, error), into *S) error {
	s, err := newService(ctx, access.Options(name)...)
	if err != nil {
		return fmt.Errorf("preparing a client for %s: %w", name.API(), err)
	}
	*into = s
	return nil
}

// explain says what was being done to which resource, and what to do.
func (p *Project) explain(err error, doing string, id infra.ID) error {
	return p.access.Explain(err, p.Names.Project, doing+" "+id.String())
}

func (p *Project) wait(ctx context.Context, id infra.ID, o gcp.Operation) error {
	return p.access.Wait(ctx, o, p.shown(id))
}

func (p *Project) shown(id infra.ID) func(gcp.State) {
	return func(s gcp.State) {
		if s.Text != "" && !s.Done {
			p.Progress(id, s.Text)
		}
	}
}

// CheckBilling returns an error if nobody pays for the project. It returns nil if that can't be
// known: the account may not ask, or the API isn't enabled.
func (p *Project) CheckBilling(ctx context.Context) error {
	info, err := p.services.Billing.Projects.GetBillingInfo("projects/" + p.Names.Project).Context(ctx).Do()
	switch {
	case gcp.IsStatus(err, http.StatusForbidden):
		return nil
	case err != nil:
		return p.access.Explain(err, p.Names.Project, "asking for the billing of project "+p.Names.Project)
	case !info.BillingEnabled:
		return &NoBillingError{p.Names.Project}
	}
	return nil
}

// NoBillingError is the error for a project without billing.
type NoBillingError struct{ Project string }

func (e *NoBillingError) Error() string {
	return fmt.Sprintf("project %s has no billing account, so nothing can be created in it: link one with: %s", e.Project, e.Next())
}

// Next returns the command that links a billing account.
func (e *NoBillingError) Next() string {
	return fmt.Sprintf("gcloud billing projects link %s --billing-account=ACCOUNT", e.Project)
}

// Usage says that nothing was changed.
func (e *NoBillingError) Usage() bool { return true }
