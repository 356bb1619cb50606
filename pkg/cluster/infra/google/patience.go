package google

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
)

// patience is how long it takes at most until all of Google Cloud knows a new account. Its page about access
// changes says two minutes, and seven or more in some cases.
const patience = 7 * time.Minute

// Patiently makes a call about a resource, again while a service doesn't know yet what this run has made or
// enabled a moment ago. It says for what it waits.
func (p *Project) Patiently(ctx context.Context, id infra.ID, call func() error) error {
	var unknown string
	err := p.retry(ctx, func(err error) bool {
		if unknown = p.unknown(err, id); unknown == "" {
			return false
		}
		p.tellOfWait(id, unknown)
		return true
	}, call)
	if err != nil && unknown != "" && ctx.Err() == nil {
		return fmt.Errorf("%w; after %s Google Cloud still does not know %s: repeat this command later", err, p.Patience, unknown)
	}
	return err
}

func (p *Project) tellOfWait(id infra.ID, unknown string) {
	p.Progress(id, "waiting until Google Cloud knows "+unknown)
}

// retry makes a call, again after errors that pass, as long as there is patience.
func (p *Project) retry(ctx context.Context, passes func(error) bool, call func() error) error {
	if p.Patience == 0 {
		return call()
	}
	return backoff.Retry(ctx, p.Patience, passes, call)
}

// unknown returns what a service doesn't know yet according to an error, "" for other errors.
func (p *Project) unknown(err error, id infra.ID) string {
	if p.access.IsDisabled(err, p.Names.Project) {
		return gcp.NewAPI
	}
	p.mu.Lock()
	fresh := p.fresh[p.accountOf(id)]
	p.mu.Unlock()
	return gcp.NotYet(err, fresh)
}

// accountOf returns the name of the service account that a resource is about, or whose right to act as it
// depends on: nodes run as one.
func (p *Project) accountOf(id infra.ID) string {
	switch id.Kind {
	case infra.KindAccount, infra.KindIdentity, infra.KindRoles:
		return id.Name
	case infra.KindCluster, infra.KindPool:
		return p.Names.Account(config.NodesAccount)
	}
	return ""
}

// made a moment ago: services need not know the account yet.
func (p *Project) setFresh(account string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fresh[account] = true
}
