package google

import (
	"context"
	"errors"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
)

// unread returns the finding for an error of reading the pods' service account.
func unread(err error) doctor.Finding {
	var need doctor.NeedError
	if errors.As(err, &need) {
		return doctor.Lacking(string(need))
	}
	return doctor.Skip("the service account %s can't be read: %v", api.DefaultServiceAccount, err)
}

// isMadeByUp reports whether `up` is known to have made the cluster. It then also makes what the cluster lacks.
func (c *cloud) isMadeByUp(ctx context.Context) bool {
	found, err := c.cluster(ctx)
	return err == nil && infracloud.MadeByUp(found)
}
