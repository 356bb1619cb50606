package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// checkStore rejects a job whose store is unknown, or can't be reached from its pods. Without contacting anything, that is a
// warning.
func (o *options) checkStore(p *submit.Planned) error {
	err := p.StoreAccess()
	if p.Spec.Store == "" {
		err = fmt.Errorf("where the job would be stored is unknown: %w", config.ErrNoStore)
	}
	switch {
	case err == nil:
	case o.mode.contacts():
		return cli.Usage(err)
	default:
		p.Warnings = append(p.Warnings, err.Error())
	}
	return nil
}

// askAboutIdle asks whether to run a script that only defines functions. Without a terminal, it warns.
func (o *options) askAboutIdle(ctx context.Context, p *submit.Planned) error {
	switch {
	case p.Idle == "":
	case o.mode == modeRun && cli.CannotAsk(o.streams) == "":
		return cli.Confirm(ctx, o.streams, p.Idle, "nothing was submitted")
	default:
		p.Warnings = append(p.Warnings, p.Idle)
	}
	return nil
}

// planError returns an error with exit code 2, because nothing was contacted or changed
// yet, or the exit code of an interrupt if that was the cause. That a file changed at that
// moment is no mistake of the user.
func planError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cli.Exit(cli.ExitInterrupted)
	}
	if file, ok := errors.AsType[*pack.FileError](err); ok && file.Changed {
		return err
	}
	return cli.Usage(err)
}
