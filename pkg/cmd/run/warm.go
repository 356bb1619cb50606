package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
	"k8s.io/apimachinery/pkg/util/duration"
)

// envKeepWarm is the default of --keep-warm.
const envKeepWarm = "KINETIC_KEEP_WARM" //nolint:gosec // a name, not a credential

// editTime is how long after an edit a file of a warm call is packed apart from the other files.
const editTime = 12 * time.Hour

func chooseKeepWarm(w *api.KeepWarm, text string, getenv func(string) string) error {
	if text == "0" || text == "0s" { // none, whatever the default is
		return nil
	}
	if text != "" {
		return cli.ReadKeepWarm(w, "--keep-warm", text)
	}
	if text = getenv(envKeepWarm); text == "" {
		return nil
	}
	w.ByDefault = true
	return cli.ReadKeepWarm(w, envKeepWarm, text)
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
	// waitsFor is the host whose start it waits for, if any.
	waitsFor string
}

// runWarm runs a call on a warm host, one that is there or a new one, or shows the manifests of a new one.
func (o *options) runWarm(ctx context.Context, id submit.Identity, planned submit.Planned, to destination, search *warmSearch) error {
	r := warmRun{options: o, planned: planned, to: to, search: search, owner: job.CurrentUser()}
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
	r.planned.Spec.Host = planned.WarmID(id)
	return r.begin(ctx)
}

// candidate is a host at the place of a call, a connection to it, and what it does. A host without a connection is still starting.
type candidate struct {
	host kube.WarmHost
	connection
}

// starts notes a host that is still starting, unless there is one that has started.
func (c *candidate) starts(host kube.WarmHost) {
	if c.conn == nil {
		c.host = host
	}
}

// find returns a host at the place of the call that was not tried before. Without one that could take the call now, it tells the user
// why, and returns a candidate without a connection.
func (r *warmRun) find(ctx context.Context, tried []string) (candidate, error) {
	if last := r.lastHost(ctx); last.conn != nil {
		r.say(last)
		return last, nil
	}
	found, why, err := r.choose(ctx, tried)
	for wait := (backoff.Timer{}); err == nil && found.conn == nil && found.host.ID != "" && r.planned.Spec.KeepWarm.Wait; {
		if r.waitsFor != found.host.ID {
			r.waitsFor = found.host.ID
			r.ui.Note("waiting for the warm host " + r.waitsFor + " to start")
		}
		if err = wait.Sleep(ctx); err == nil {
			r.search.outdate()
			found, why, err = r.choose(ctx, tried)
		}
	}
	switch {
	case err != nil:
		return candidate{}, err
	case found.conn != nil:
		r.say(found)
		if found.conn.Slow {
			r.ui.Note("calls reach the host through the store, which takes seconds; a direct connection needs the verb create on pods/portforward")
		} else {
			r.remember(found.host)
		}
		return found, nil
	case r.planned.Spec.KeepWarm.Only:
		return candidate{}, &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("no warm host: %s; omit --warm-only to start one", why)}
	}
	r.ui.Note("no warm host: " + why)
	return candidate{}, nil
}

// choose returns a host that is idle or else, if the user wants to wait, one that is busy or still starting. Without one that could take
// the call now, it returns why, and a candidate without a connection.
func (r *warmRun) choose(ctx context.Context, tried []string) (found candidate, why string, err error) {
	hosts, err := r.search.found(ctx, r.to.cluster, r.clock.Now())
	if err != nil {
		return candidate{}, "", err
	}
	why = cmp.Or(r.declinedWhy, r.whyNone(hosts))
	for _, host := range hosts {
		if host.Key != r.place.Key || slices.Contains(tried, host.ID) {
			continue
		}
		if other := r.lacksSecrets(ctx, host); other != "" {
			why = other
			continue
		}
		if !host.TakesCalls() {
			found.starts(host)
			continue
		}
		conn, state, err := r.ask(ctx, host)
		switch {
		case err != nil && ctx.Err() != nil:
			found.close()
			return candidate{}, "", ctx.Err()
		case errors.Is(err, warm.ErrNoHost):
			why = host.ID + " has just ended, or has not started yet"
			found.starts(host)
		case err != nil:
			why = fmt.Sprintf("could not reach %s: %v", host.ID, err)
		case conn.Slow && len(r.planned.WarmRecord().Argv) == 0:
			why = "without the verb create on pods/portforward the call would go through the store, and a variable of -e may be a secret: use --secret-env"
			_ = conn.Close()
		case state.Current != "" && !r.planned.Spec.KeepWarm.Wait:
			why = fmt.Sprintf("%s is busy with %s, %s so far (--warm-wait waits for it, jobs cancel ends it)", host.ID, state.Current, duration.HumanDuration(seconds(state.Seconds)))
			_ = conn.Close()
		case state.Current != "" && found.conn != nil:
			_ = conn.Close()
		default:
			found.close()
			found = candidate{host, connection{conn, state}}
		}
		if found.conn != nil && found.state.Current == "" {
			break
		}
	}
	return found, why, nil
}

// lastHost returns the host of the last call, once, if it is at the place of this one, and idle. A host at another place is let go: it
// does not end while a client is about to give it a call.
func (r *warmRun) lastHost(ctx context.Context) candidate {
	last, idle := r.search.lastHost(ctx, r.clock.Now())
	fits := last.host.Key == r.place.Key && r.lacksSecrets(ctx, last.host) == ""
	if !fits || idle {
		last.conn, last.state = r.search.take(ctx, last.host.ID, r.clock.Now())
	}
	if fits && idle {
		return last
	}
	if !fits {
		last.close()
	}
	return candidate{}
}

// lacksSecrets says why a host does not have the values of the call's secrets, "" if it has.
func (r *warmRun) lacksSecrets(ctx context.Context, host kube.WarmHost) string {
	if len(r.planned.Secrets) == 0 {
		return ""
	}
	key, err := backend.WarmKey(ctx, r.to.cluster, host)
	switch {
	case err != nil:
		return fmt.Sprintf("cannot compare the values of the secrets with those of %s: %v", host.ID, err)
	case r.planned.WarmSecrets(key) != host.Secrets:
		return "the values of the secrets differ"
	}
	return ""
}

// remember lets the next call connect to a host at once. Without it, that only takes a little longer.
func (r *warmRun) remember(host kube.WarmHost) {
	config, err := r.connection.REST(r.target)
	if err != nil {
		return
	}
	pod := host.PodOf(0)
	_ = backend.WarmKeys().SetLast(warm.Reached{Server: config.Host, Host: host.Handle, Pod: pod.Name, UID: pod.UID})
}

func (r *warmRun) ask(ctx context.Context, host kube.WarmHost) (*warm.Conn, warm.State, error) {
	if conn, state := r.search.take(ctx, host.ID, r.clock.Now()); conn != nil {
		return conn, state, nil
	}
	return r.dial(ctx, host)
}

func (r *warmRun) dial(ctx context.Context, host kube.WarmHost) (*warm.Conn, warm.State, error) {
	config, err := r.connection.REST(r.target)
	if err != nil {
		return nil, warm.State{}, err
	}
	conn, err := backend.DialWarm(ctx, config, r.to.cluster, host, 0)
	if err != nil {
		return nil, warm.State{}, err
	}
	state, err := conn.Reserve()
	if err != nil {
		_ = conn.Close()
	}
	return conn, state, err
}

// whyNone returns the first difference of the host that fits best. It asks no host.
func (r *warmRun) whyNone(hosts []kube.WarmHost) string {
	why, fewest := "none is running", math.MaxInt
	for _, host := range hosts {
		switch differences := r.place.Differences(host.Place); {
		case host.Key == r.place.Key && !host.TakesCalls():
			return host.ID + " has no running pod (--warm-wait waits for it)"
		case host.Owner == r.owner && len(differences) > 0 && len(differences) < fewest:
			why, fewest = fmt.Sprintf("%s does not fit: %s", host.ID, differences[0]), len(differences)
		}
	}
	return why
}

func (r *warmRun) say(c candidate) {
	text := "host " + c.host.ID
	switch {
	case c.state.Current != "":
		text += fmt.Sprintf(", busy with %s", c.state.Current)
	default:
		text += ", idle " + duration.HumanDuration(seconds(c.state.Idle))
	}
	switch why, level := c.conn.WhyNotKept(c.state, r.planned.WarmCall()), r.planned.Spec.KeepWarm.Level; {
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
	steps := submit.Hooks{Records: map[string][]byte{store.WarmCall(host.ID, r.planned.Spec.ID): record}}
	steps.Start = func(ctx context.Context, _ api.Spec, _ map[string]string) error { return r.give(ctx, host, conn, nil) }
	if text, err := json.Marshal(r.planned.WarmCall()); err == nil && len(text) <= maxFlags && !conn.Slow && !r.wait.detach {
		steps.Waits = busy
		steps.Give = func(ctx context.Context, _ api.Spec, objects map[string][]byte) error {
			return r.give(ctx, host, conn, objects)
		}
	}
	return r.start(ctx, r.planned, r.to, steps)
}

// declined reports whether a host has not taken a call: it has got another one meanwhile, or is ending.
func declined(err error) bool {
	var busy *warm.BusyError
	var refused *warm.RefusedError
	return errors.As(err, &busy) || errors.As(err, &refused)
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
