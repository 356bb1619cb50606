package doctor

import (
	"context"
	"errors"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
)

// unreadInCloud returns the finding for an error of reading the pods' service account.
func unreadInCloud(err error) Finding {
	var need NeedError
	if errors.As(err, &need) {
		return Lacking(string(need))
	}
	return Skip("the service account %s can't be read: %v", api.DefaultServiceAccount, err)
}

// isMadeByUp reports whether `up` is known to have made the cluster. It then also makes what the cluster lacks.
func (c *cloud) isMadeByUp(ctx context.Context) bool {
	found, err := c.cluster(ctx)
	return err == nil && infracloud.MadeByUp(found)
}
