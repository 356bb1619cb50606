package google

import (
	"context"
	"time"

	"google.golang.org/api/iam/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// settlesWithin is how long something that is changed by others, or still being made, is waited for.
const settlesWithin = 2 * time.Minute

type account struct {
	*Project
	id infra.ID
	of string // config.NodesAccount, …
}

func (a account) name() string {
	return "projects/" + a.Names.Project + "/serviceAccounts/" + a.Names.Email(a.of)
}

func (a account) Get(ctx context.Context) (infra.State, error) {
	found, err := a.services.IAM.Projects.ServiceAccounts.Get(a.name()).Context(ctx).Do()
	return a.described(ctx, a.id, err, func() string { return found.Description })
}

// Ensure implements infra.Actor. It returns when the account can be read: others take a little longer
// to know it.
func (a account) Ensure(ctx context.Context, _ infra.State) error {
	// purposes say what the accounts are for, for people who find them.
	purposes := map[string]string{
		config.NodesAccount:  "The machines of a cluster",
		config.BuildsAccount: "Cloud Build for the images of a cluster's jobs",
		config.JobsAccount:   "The pods of a cluster's jobs",
	}
	request := &iam.CreateServiceAccountRequest{AccountId: a.id.Name, ServiceAccount: &iam.ServiceAccount{
		DisplayName: a.id.Name, Description: purposes[a.of] + ", " + mark,
	}}
	_, err := a.services.IAM.Projects.ServiceAccounts.Create("projects/"+a.Names.Project, request).Context(ctx).Do()
	if err != nil && !gcp.IsExists(err) {
		return a.explain(err, "creating", a.id)
	}
	a.setFresh(a.id.Name)
	_, err = a.services.IAM.Projects.ServiceAccounts.Get(a.name()).Context(ctx).Do()
	return a.explain(err, "waiting for", a.id)
}

func (a account) Delete(ctx context.Context) error {
	_, err := a.services.IAM.Projects.ServiceAccounts.Delete(a.name()).Context(ctx).Do()
	if gcp.IsMissing(err) {
		return nil
	}
	return a.explain(err, "deleting", a.id)
}
