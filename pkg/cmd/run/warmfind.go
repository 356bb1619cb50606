package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"k8s.io/apimachinery/pkg/util/duration"
)

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
	waiting, stop := report.WithTimeout(ctx, r.wait.timeout)
	defer stop()
	for wait := (backoff.Timer{}); err == nil && found.conn == nil && found.host.ID != "" && r.planned.Spec.KeepWarm.Wait; {
		if !r.mayStart(waiting, found.host) {
			tried = append(tried, found.host.ID)
			found, why, err = r.choose(ctx, tried)
			continue
		}
		if err = wait.Sleep(waiting); err == nil {
			r.search.outdate()
			found, why, err = r.choose(ctx, tried)
		} else if ctx.Err() == nil {
			err = r.waitedTooLong(found.host.ID)
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

// mayStart reports whether a host that has not started can still do so. It tells the user what the host waits for, whenever that changes.
func (r *warmRun) mayStart(ctx context.Context, host kube.WarmHost) bool {
	now, err := r.to.cluster.Status(ctx, host.Handle)
	if now.Unrecoverable {
		r.declinedWhy = fmt.Sprintf("%s can't start: %s", host.ID, now.Message)
		return false
	}
	note := "waiting for the warm host " + host.ID + " to start"
	if err != nil && strings.HasPrefix(r.waits, note) { // only the reason is unknown for now
		return true
	}
	if now.State == api.Pending && now.Message != "" {
		note += ": " + now.Message
	}
	if note != r.waits {
		r.waits = note
		r.ui.Note(note)
	}
	return true
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
		asked, err := r.ask(ctx, host)
		switch {
		case err != nil && ctx.Err() != nil:
			found.close()
			return candidate{}, "", ctx.Err()
		case errors.Is(err, warm.ErrNoHost):
			why = host.ID + " has just ended, or has not started yet"
			found.starts(host)
		case err != nil:
			why = fmt.Sprintf("could not reach %s: %v", host.ID, err)
		case asked.conn.Slow && len(r.planned.WarmRecord().Argv) == 0:
			why = "without the verb create on pods/portforward the call would go through the store, and a variable of -e may be a secret: use --secret-env"
			asked.close()
		case asked.state.Current != "" && !r.planned.Spec.KeepWarm.Wait:
			why = fmt.Sprintf("%s is busy with %s, %s so far (--warm-wait waits for it, jobs cancel ends it)", host.ID, asked.state.Current, duration.HumanDuration(seconds(asked.state.Seconds)))
			asked.close()
		case asked.state.Current != "" && found.conn != nil:
			asked.close()
		default:
			found.close()
			found = candidate{host, asked}
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
		last.connection = r.search.take(ctx, last.host.ID, r.clock.Now())
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
	pod := host.PodOf(0)
	_ = backend.WarmKeys().SetLast(warm.Reached{Server: r.to.cluster.Config().Host, Host: host.Handle, Pod: pod.Name, UID: pod.UID})
}

// ask connects to a host, unless the search has done so lately.
func (r *warmRun) ask(ctx context.Context, host kube.WarmHost) (connection, error) {
	if taken := r.search.take(ctx, host.ID, r.clock.Now()); taken.conn != nil {
		return taken, nil
	}
	return dialHost(ctx, r.to.cluster, host)
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
