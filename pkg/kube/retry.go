package kube

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/backoff"
)

// retryFor is for how long a call that fails is tried again. An API server that restarts is back
// by then. The context may end sooner.
const retryFor = 30 * time.Second

// retry tries a call again after errors that are transient.
func retry(ctx context.Context, call func() error) error {
	wait := backoff.Timer{}
	var err error
	for begin := time.Now(); time.Since(begin) <= retryFor; {
		if sleepErr := wait.Sleep(ctx); sleepErr != nil {
			return errors.Join(sleepErr, err)
		}
		if err = call(); err == nil || !apiserver.Transient(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}
