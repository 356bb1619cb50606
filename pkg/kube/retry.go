package kube

import (
	"context"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// retryFor is for how long a call that fails is tried again. An API server that restarts is back
// by then. The context may end sooner.
const retryFor = 30 * time.Second

// retry tries a call again after errors that are transient.
func retry(ctx context.Context, call func() error) error {
	return backoff.Retry(ctx, retryFor, apiserver.Transient, call)
}
