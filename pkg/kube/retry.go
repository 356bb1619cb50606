package kube

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/backoff"
)

// retryFor is how long a call is made again whose failure may pass: an API server
// that is restarted is back within it. What ends earlier, the context bounds.
const retryFor = 30 * time.Second

// retry repeats a call whose failure may pass.
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
