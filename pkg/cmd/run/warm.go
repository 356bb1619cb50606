package run

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
	"k8s.io/apimachinery/pkg/util/duration"
)

// envKeepWarm is the default of --keep-warm.
const envKeepWarm = "KINETIC_KEEP_WARM" //nolint:gosec // a name, not a credential

// editTime is how long after an edit a file of a warm call is packed apart from the other files.
const editTime = 12 * time.Hour

// chooseKeepWarm takes for how long pods stay from the flag's text or else from the variable, if one of them says so.
func chooseKeepWarm(w *api.KeepWarm, text string, getenv func(string) string) error {
	name := "--keep-warm"
	if text == "" {
		name, text, w.ByDefault = envKeepWarm, getenv(envKeepWarm), true
	}
	if text == "" {
		return nil
	}
	return cli.ReadKeepWarm(w, name, text)
}

// settleKeepWarm leaves warm hosts out of a mode that starts nothing and shows a job's own manifests.
func settleKeepWarm(w *api.KeepWarm, m mode) error {
	switch {
	case m != modePrepare && m != modeWriteOverlay || w.Idle == 0:
		return nil
	case w.ByDefault:
		*w = api.KeepWarm{}
		return nil
	default:
		return errors.New("--keep-warm cannot be combined with --prepare or --write-overlay, which show a job that is applied later")
	}
}

// giveUpKeepWarm leaves warm hosts out, if they are only a default, for a user without a name, whom hosts can't tell from others. It
// returns a note about that, or "".
func giveUpKeepWarm(w *api.KeepWarm, user string) string {
	if w.Idle == 0 || !w.ByDefault || w.Only || user != "" {
		return ""
	}
	*w = api.KeepWarm{}
	return "the job uses no warm host: " + namelessUser
}

// namelessUser says why a user can have no warm host, and what to do.
const namelessUser = "the name of your account on this machine is unknown: set USER and HOME"

// warmRun is a run of a call for a warm host.
type warmRun struct {
	*options
	planned submit.Planned
	to      destination
	search  *warmSearch
	owner   string
	place   submit.WarmPlace
	// declinedWhy is why a host has not taken the call, "" if none has declined it.
	declinedWhy string
	// waits is the note about the host whose start it waits for, "" if there is none.
	waits string
}

// runWarm runs a call on a warm host, one that is there or a new one, or shows the manifests of a new one.
func (o *options) runWarm(ctx context.Context, id submit.Identity, planned submit.Planned, to destination, search *warmSearch) error {
	r := warmRun{options: o, planned: planned, to: to, search: search, owner: job.CurrentUser()}
	if r.owner == "" { // the host of somebody else might be taken
		return cli.Usagef("--keep-warm: %s", namelessUser)
	}
	var err error
	if r.place, err = planned.WarmPlace(r.owner); err != nil {
		return cli.Usage(err)
	}
	for tried := []string(nil); search != nil; {
		found, err := r.find(ctx, tried)
		if err != nil {
			return err
		}
		if found.conn == nil {
			break
		}
		if err = r.ring(ctx, found); !declined(err) || ctx.Err() != nil {
			return err
		}
		r.ui.Note(err.Error())
		r.declinedWhy = err.Error()
		tried = append(tried, found.host.ID)
	}
	_ = backend.WarmKeys().SetLast(warm.Reached{}) // the next call is for the newest host
	r.planned.Spec.Host = planned.WarmID(id)
	return r.begin(ctx)
}

func (r *warmRun) say(c candidate) {
	text := "host " + c.host.ID
	switch {
	case c.state.Current != "":
		text += fmt.Sprintf(", busy with %s", c.state.Current)
	default:
		text += ", idle " + duration.HumanDuration(seconds(c.state.Idle))
	}
	planned := r.planned
	planned.Spec.Host = c.host.ID
	switch why, level := c.conn.WhyNotKept(c.state, planned.WarmCall()), planned.Spec.KeepWarm.Level; {
	case level == api.WarmClean:
		text += "; a new Python"
	case c.state.Keeps == "" && level == api.WarmProcess:
		text += "; a new process"
	case c.state.Keeps == "":
	case why == "":
		text += "; " + c.state.Keeps + " kept"
	default:
		text += "; " + c.state.Keeps + " not kept: " + why
	}
	r.ui.Phase("warm", text)
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// maxFlags is the most that the flags and the variables of a call may take for its objects to fit into the same frame.
const maxFlags = 256 << 10

// ring gives the call to a host, whose other call, if it is busy, must end first.
func (r warmRun) ring(ctx context.Context, found candidate) error {
	host, conn, busy := found.host, found.conn, found.state.Current != ""
	defer conn.Close()
	r.planned.Spec.Host = host.ID
	text, err := json.Marshal(r.planned.WarmCall())
	switch {
	case err != nil:
		return fmt.Errorf("encoding the call for warm host %s: %w", host.ID, err)
	case len(text) > warm.CallLimit:
		return cli.Usagef("the variables and flags of the call take %d bytes, and a warm host takes %d at most: put large values into a file of the project", len(text), warm.CallLimit)
	}
	r.to.registry = backend.Ringing(r.to.registry, r.planned.Spec.ID, conn)
	if r.wait.file == "" && event.Of(r.streams.Out) == nil && event.Of(r.streams.ErrOut) == nil {
		r.early = &earlyValue{out: r.streams.Out}
		conn.OnValue = r.early.show
	}
	r.options.planned = r.planned
	record, err := conn.Record(r.planned.WarmRecord(), host.ID)
	if err != nil {
		return err
	}
	held := newLease(ctx, conn)
	defer held.once.Do(func() { close(held.over) })
	steps := submit.Hooks{Records: map[string][]byte{store.WarmCall(host.ID, r.planned.Spec.ID): record}}
	steps.Start = func(ctx context.Context, _ api.Spec, _ map[string]string) error { return r.give(ctx, host, held, nil) }
	if len(text) <= maxFlags && !conn.Slow && !r.wait.detach {
		steps.Waits = busy
		steps.Give = func(ctx context.Context, _ api.Spec, objects map[string][]byte) error {
			return r.give(ctx, host, held, objects)
		}
	}
	return r.start(ctx, r.planned, r.to, steps)
}

// declined reports whether a host has not taken a call: it has got another one meanwhile, or is ending.
func declined(err error) bool {
	return errors.As(err, new(*warm.BusyError)) || errors.As(err, new(*warm.RefusedError))
}

// begin starts a new host, which begins with the call, or shows its manifests.
func (r *warmRun) begin(ctx context.Context) error {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	inbox := r.mode == modeRun && !r.to.cluster.MayForwardPorts(ctx)
	spec, err := r.planned.WarmHost(r.place, r.owner, key, inbox)
	if err != nil {
		return err
	}
	if !r.mode.submits() { // what is only shown is always the same
		spec.Warm.Secrets = ""
	}
	rendered, err := render.Objects(spec, r.planned.Overlay)
	if err != nil {
		return cli.Usage(err)
	}
	switch r.mode {
	case modeServerDryRun:
		return r.serverDryRun(ctx, r.planned, rendered)
	case modeDryRun:
		return r.print(rendered, r.output, " created (dry run)")
	}
	r.options.planned = r.planned
	r.noteHardware(r.planned)
	stays := duration.HumanDuration(spec.KeepWarm.Idle) + " after this call"
	if spec.KeepWarm.Idle > spec.KeepWarm.Limit {
		stays = duration.HumanDuration(spec.KeepWarm.Limit) + " at most (--warm-limit)"
	}
	if r.planned.Spec.MaxRuntime == api.DefaultWarmRuntime {
		stays += fmt.Sprintf("; a call ends after %s (--max-runtime)", duration.HumanDuration(api.DefaultWarmRuntime))
	}
	r.ui.Note(fmt.Sprintf("new warm host %s, which stays for %s", spec.ID, stays))
	if spec.Backend.IsLeaderWorkerSet() {
		go r.tidy(ctx)
	}
	record, err := warm.NewRecord(r.planned.WarmRecord(), spec.ID, key)
	if err != nil {
		return err
	}
	submission := r.to.cluster.Submission(rendered.Objects())
	records := map[string][]byte{store.WarmCall(spec.ID, r.planned.Spec.ID): record}
	return r.start(ctx, r.planned, r.to, submit.Hooks{Records: records, Ready: submission.Ready, Start: func(ctx context.Context, _ api.Spec, secrets map[string]string) error {
		if err := backend.WarmKeys().Remember(spec.ID, key); err != nil {
			r.ui.Warn(fmt.Sprintf("could not save the key of the warm host; only users who can read Secrets can reuse the host: %v", err))
		}
		all := maps.Clone(secrets)
		if all == nil {
			all = map[string]string{}
		}
		all[api.EnvWarmKey] = hex.EncodeToString(key)
		return submission.Start(ctx, spec, all)
	}})
}

func (r *warmRun) tidy(ctx context.Context) {
	if err := r.to.cluster.DeleteEndedWarmSets(ctx, r.owner); err != nil && ctx.Err() == nil {
		r.ui.Warn(fmt.Sprintf("could not delete warm hosts that have ended: %v", err))
	}
}
