package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// earlier is the job whose call is repeated.
type earlier struct {
	*job.Job
	call api.Call
	// dir has the files that the store kept of the call, "" if there are none.
	dir string
	// unrecorded are names of variables with values of which no record is kept.
	unrecorded []string
	// resumes means that the new job begins with the outputs that the earlier one began with; anew, that it can't.
	resumes, anew bool
}

func (e *earlier) close() {
	if e != nil && e.dir != "" {
		_ = os.RemoveAll(e.dir)
	}
}

// repeat finds the job of --like, and gives the flags that were not typed the values that they had for it. It returns nil
// without --like.
func (f *flags) repeat(c *cobra.Command, args []string) (*earlier, error) {
	if !c.Flags().Changed("like") {
		return nil, nil
	}
	if err := f.checkRepeat(c, args); err != nil {
		return nil, cli.Usage(err)
	}
	ctx := c.Context()
	j, err := f.findEarlier(ctx)
	if err != nil {
		return nil, err
	}
	if j.Handle.CommandLine == nil {
		return nil, cli.Usagef("--like %s: %s submitted that job, and did not record its command line: type it again", j.ID(), author(j.Handle))
	}
	e := &earlier{Job: j}
	if err := e.readCall(ctx); err != nil {
		return nil, err
	}
	if e.call.Kind == api.CallPickle && (len(args) > 0 || c.Flags().Changed("arg")) {
		return nil, cli.Usagef("--like %s: that job was called from Python, and its arguments are pickled: omit the new arguments, or call the function again", j.ID())
	}
	if err := f.restore(c, e); err != nil {
		return nil, cli.Usage(err)
	}
	if err := f.fetchInputs(c, e); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// author names the program that submitted a job.
func author(h api.Handle) string {
	if h.ByPythonTool() {
		return "keras-kinetic"
	}
	return "kubectl kinetic " + h.Client
}

// checkRepeat rejects flags that choose what to call, which --like takes from the job.
func (f *flags) checkRepeat(c *cobra.Command, args []string) error {
	if len(args) > 0 && c.ArgsLenAtDash() != 0 {
		return fmt.Errorf("TARGET %q: with --like, run repeats the call of job %s: omit it", args[0], f.like)
	}
	for _, name := range []string{"module", "command", "payload"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s cannot be combined with --like, which repeats the call of job %s: omit one", name, f.like)
		}
	}
	return f.checkEmpty()
}

// jobs returns the existing jobs of this machine, or of the cluster's namespace.
func (f *flags) jobs(local bool) (job.Registry, error) {
	if local {
		return backend.LocalJobsRegistry(f.connection)
	}
	registry, _, err := backend.JobsRegistry(f.connection, false)
	return registry, err
}

// findEarlier looks for the job where the new one goes, and then in the other place: a call that failed in the cluster can be
// repeated here.
func (f *flags) findEarlier(ctx context.Context) (*job.Job, error) {
	here, err := f.chooseBackend()
	if err != nil {
		return nil, cli.Usage(err)
	}
	find := func(local bool) (*job.Job, error) {
		registry, err := f.jobs(local)
		if err != nil {
			return nil, err
		}
		return submit.FindJob(ctx, registry, f.like)
	}
	j, err := find(here == api.BackendLocal)
	if err == nil {
		return j, nil
	}
	if f.like != submit.LastJob {
		if other, otherErr := find(here != api.BackendLocal); otherErr == nil {
			return other, nil
		}
	}
	err = fmt.Errorf("--like: %w", err)
	if errors.As(err, new(*job.IDError)) {
		return nil, cli.Usage(err)
	}
	return nil, err
}

// readCall reads what the job called, and checks that it is what its handle names.
func (e *earlier) readCall(ctx context.Context) error {
	data, err := records.ReadBytes(ctx, e.Store, store.Call(e.ID()))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return e.deleted("call")
	case err != nil:
		return err
	case fmt.Sprintf("%x", sha256.Sum256(data)) != e.Handle.CallSHA256:
		return e.changed(store.Call(e.ID()))
	}
	return json.Unmarshal(data, &e.call)
}

// deleted is the error for a part of the call that the store no longer has.
func (e *earlier) deleted(what string) error {
	return cli.Usagef("--like %s: the %s of that job was deleted from the store: type the command line again", e.ID(), what)
}

// changed is the error for an object that is not what the handle names.
func (e *earlier) changed(name string) error {
	return fmt.Errorf("--like %s: %s/%s was changed after that job was submitted", e.ID(), e.Store.URL(), name)
}

// fetchInputs copies the pickled call, or the inputs of the map, to this machine.
func (f *flags) fetchInputs(c *cobra.Command, e *earlier) (err error) {
	h := e.Handle
	if e.call.Kind == api.CallPickle {
		if f.request.Payload, err = e.fetch(c.Context(), "call", store.Payload(e.ID()), h.Payload.SHA256, "call.pkl"); err != nil {
			return err
		}
	}
	if h.Map != nil && !c.Flags().Changed("map") {
		f.request.Map, err = e.fetch(c.Context(), "input", store.Blob(h.Map.InputsSHA256), h.Map.InputsSHA256, "inputs.jsonl")
	}
	return err
}

// fetch copies an object with this hash to a file that only this user can read, and returns its path.
func (e *earlier) fetch(ctx context.Context, what, name, sum, base string) (path string, err error) {
	from, err := e.Store.Open(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return "", e.deleted(what)
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if e.dir == "" {
		if e.dir, err = os.MkdirTemp("", "kinetic-like-"); err != nil {
			return "", err
		}
	}
	path = filepath.Join(e.dir, base)
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	got := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, got), from)
	if err = errors.Join(err, to.Close()); err == nil && hex.EncodeToString(got.Sum(nil)) != sum {
		err = e.changed(name)
	}
	return path, err
}

// target gives a request the call of an earlier job. args are what was typed after --, nil for nothing.
func (e *earlier) target(r *api.Request, args []string) {
	r.Target, r.Args = e.Handle.CommandLine.Target, args
	r.Module, r.Command = e.call.Kind == api.CallModule, e.call.Kind == api.CallCommand
	if args == nil {
		r.Args = e.call.Args
	}
	e.resume(r)
}

// resume lets a request begin with the outputs with which the earlier job began, unless the job is to have others, or can't read them.
func (e *earlier) resume(r *api.Request) {
	resumedMap := e.Handle.Map != nil // whose outputs --map-resume chose, even if it had no values to reuse
	if e.Handle.ResumeFrom == "" || r.ResumeFrom != "" || resumedMap {
		return
	}
	moves := (r.Backend == api.BackendLocal) != (e.Handle.Backend == api.BackendLocal)
	e.anew = moves || r.OutputDir != "" || r.OutputMount || r.Map != ""
	if e.resumes = !e.anew; e.resumes {
		r.ResumeFrom = e.Handle.ResumeFrom
	}
}

// beginsAnew is the note about outputs that the new job doesn't begin with.
func (e *earlier) beginsAnew() string {
	return fmt.Sprintf("begins without the outputs of job %s, with which job %s began", e.Handle.ResumeFrom, e.ID())
}

// notes returns what is repeated, and where it can differ from the earlier job.
func (e *earlier) notes(p submit.Planned) []string {
	if e == nil {
		return nil
	}
	code := "with the same code"
	if p.Spec.BundleSHA256 != e.Handle.BundleSHA256 {
		code = "the code has changed since"
	}
	notes := []string{fmt.Sprintf("repeats the call of job %s, %s", e.ID(), code)}
	if e.call.Kind == api.CallPickle {
		notes[0] += "; its function and arguments are as they were pickled then"
	}
	if e.anew {
		notes = append(notes, e.beginsAnew())
	}
	if e.unrecorded != nil {
		notes = append(notes, "taken from this shell, because no record of secrets is kept: "+strings.Join(e.unrecorded, ", "))
	}
	for _, d := range p.Spec.Data {
		if old := e.dataLike(d); old.Source != "" && (old.Set == "" || d.Set == "") {
			notes = append(notes, fmt.Sprintf("%s: read as it is now; what job %s read was not recorded", d.Flag(), e.ID()))
		}
	}
	return notes
}

// changes are warnings about files that have changed since the earlier job.
func (e *earlier) changes(p submit.Planned) []string {
	var warnings []string
	for _, d := range p.Spec.Data {
		if old := e.dataLike(d); old.Set != "" && d.Set != "" && old.Set != d.Set {
			warnings = append(warnings, fmt.Sprintf("%s: the files have changed since job %s", d.Flag(), e.ID()))
		}
	}
	return warnings
}

// dataLike returns the same input of the earlier job, an empty one if that had another or none.
func (e *earlier) dataLike(d api.Data) api.Data {
	if e == nil {
		return api.Data{}
	}
	for _, old := range e.Handle.Data {
		if old.Name == d.Name && old.Mount == d.Mount && old.Source == d.Source {
			return old
		}
	}
	return api.Data{}
}
