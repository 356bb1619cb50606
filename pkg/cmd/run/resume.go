package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/outputs"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// lookUp is submit.Resolve. A job that repeats another begins anew if the job with whose outputs that one began is gone.
func (o *options) lookUp(ctx context.Context, p submit.Planned, registry job.Registry) (submit.Planned, error) {
	resolved, err := submit.Resolve(ctx, p, registry)
	if o.earlier == nil || !o.earlier.resumes {
		return resolved, o.resumeError(ctx, err)
	}
	notFound, isID := errors.AsType[*job.IDError](err)
	gone := isID && notFound.Kind() != api.KindElsewhere
	another := resolved.Spec.ResumeFrom != "" && resolved.Spec.ResumeFrom != o.earlier.Handle.ResumeFrom // its ID is only the beginning of this one
	if !gone && !another {
		return resolved, err
	}
	o.ui.Note(o.earlier.beginsAnew())
	o.request.ResumeFrom = ""
	return submit.Resolve(ctx, p.Anew(), registry)
}

// resumeError says where the job of --resume-from is if it is not where the new job goes: in the cluster
// for a local job, or on this machine. It returns other errors unchanged.
func (o *options) resumeError(ctx context.Context, err error) error {
	id := o.request.ResumeFrom
	if id == "" || !errors.As(err, new(*job.IDError)) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, outputsTime)
	defer cancel()
	var other job.Registry
	var unavailable error
	if o.request.Backend == api.BackendLocal {
		other, _, unavailable = backend.JobsRegistry(o.connection, true)
	} else {
		other, unavailable = backend.LocalJobsRegistry(o.connection)
	}
	if unavailable != nil {
		return err
	}
	defer other.Store.Close()
	if text := jobElsewhere(ctx, other, id); text != "" {
		return cli.Usagef("--resume-from %s: %s", id, text)
	}
	return err
}

// jobElsewhere says how a job of another kind gets the outputs of the one with this whole ID, "" if the
// registry doesn't have it.
func jobElsewhere(ctx context.Context, other job.Registry, id string) string {
	j := other.ByID(ctx, id)
	if j == nil {
		return ""
	}
	if other.Kind != api.BackendLocal {
		return fmt.Sprintf("a local job can't resume from a cluster job: copy its outputs with kubectl kinetic jobs outputs %s cp DIR%s, and use --output-dir DIR", id, j.LocationFlags())
	}
	from := "DIR"
	if dir, err := outputs.Of(j); err == nil {
		from = human.Quote(strings.TrimPrefix(dir.URL(), store.FileScheme))
	}
	return fmt.Sprintf("that is a local job, whose outputs no pod can read: copy them with gcloud storage rsync -r %s gs://BUCKET/PREFIX, and use --output-dir gs://BUCKET/PREFIX", from)
}
