package warm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// listEvery is how often a list that is watched looks for calls of hosts that have begun or ended.
const listEvery = 2 * time.Second

// List implements job.Backend. It describes the calls of warm hosts, and not the hosts.
func (b Backend) List(ctx context.Context, level api.ListLevel) ([]api.JobSummary, error) {
	found, err := b.Backend.List(ctx, level)
	found, unread := b.withCalls(ctx, found)
	return found, errors.Join(err, unread)
}

// Pick implements job.Backend.
func (b Backend) Pick(ctx context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	hosts := false
	picked, err := b.Backend.Pick(ctx, func(all []api.JobSummary) []api.JobSummary {
		hosts = slices.ContainsFunc(all, func(e api.JobSummary) bool { return mayBeHost(e.ID) })
		return choose(all)
	})
	if err != nil || !hosts {
		return picked, err
	}
	all, err := b.List(ctx, api.ListStates)
	return choose(all), err
}

func mayBeHost(id string) bool { return strings.HasSuffix(store.WithoutTime(id), "-"+api.WarmName) }

// WatchList implements job.Backend. No object of the cluster changes when a call begins or ends, so the store of each host is
// asked now and then.
func (b Backend) WatchList(ctx context.Context, level api.ListLevel, seen func([]api.JobSummary) error) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changes, over := make(chan []api.JobSummary), make(chan error, 1)
	go func() {
		over <- b.Backend.WatchList(watching, level, func(found []api.JobSummary) error {
			select {
			case changes <- found:
				return nil
			case <-watching.Done():
				return watching.Err()
			}
		})
	}()
	tick := time.NewTicker(listEvery)
	defer tick.Stop()
	known, first := map[string]*hostCalls{}, true
	for {
		var all []api.JobSummary
		var err error
		select {
		case err := <-over:
			return err
		case found := <-changes:
			all, err = b.changed(ctx, known, found, first)
			first = false
		case <-tick.C:
			for _, host := range known {
				calls, failure := b.news(ctx, host, false)
				all, err = append(all, calls...), errors.Join(err, failure)
			}
			if len(all) == 0 && err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		if err := seen(all); err != nil {
			return err
		}
	}
}

// hostCalls is a host with its calls as they were told last.
type hostCalls struct {
	host     api.JobSummary
	calls    map[string]api.JobSummary
	isUnread bool // the calls could not be read, which was told
}

// changed puts the news of the calls of hosts in place of what has changed about the hosts.
func (b Backend) changed(ctx context.Context, known map[string]*hostCalls, found []api.JobSummary, first bool) ([]api.JobSummary, error) {
	all := []api.JobSummary{} // also if there are no jobs: that is news, too
	for _, e := range found {
		host := known[e.ID]
		switch {
		case e.Workload.Labels[api.LabelWarm] != "":
			if host == nil {
				host = &hostCalls{calls: map[string]api.JobSummary{}}
				known[e.ID] = host
			}
			host.host = e
			calls, err := b.news(ctx, host, first)
			if err != nil {
				return nil, err
			}
			all = append(all, calls...)
		case host != nil: // it is gone
			for id := range host.calls {
				all = append(all, gone(id, host.host.Namespace))
			}
			delete(known, e.ID)
		default:
			all = append(all, e)
		}
	}
	return all, nil
}

// gone describes a call that the list has no longer.
func gone(id, namespace string) api.JobSummary {
	return api.JobSummary{ID: id, Namespace: namespace, State: api.NotFound, Status: api.Status{State: api.NotFound}}
}

// news describes the calls of a host that are new, that have changed, or that are gone. If they can't be read, there is no news.
// That is an error if it is the first time and the usual store has them, or if that store refuses.
func (b Backend) news(ctx context.Context, host *hostCalls, first bool) ([]api.JobSummary, error) {
	calls, err := b.callsOf(ctx, host.host, host.calls)
	switch {
	case err != nil && (ctx.Err() != nil || host.host.Store == b.Usual && (first || errors.Is(err, store.ErrUnusable))):
		return nil, err
	case err != nil:
		if !host.isUnread {
			b.Warn(unread(host.host, err))
		}
		host.isUnread = true
		return nil, nil
	}
	host.isUnread = false
	var all []api.JobSummary
	now := map[string]api.JobSummary{}
	for _, call := range calls {
		before, told := host.calls[call.ID]
		if !told || before.State != call.State || before.Status.Outcome() != call.Status.Outcome() || !slices.Equal(before.Workload.Hosts, call.Workload.Hosts) {
			all = append(all, call)
		}
		now[call.ID] = call
	}
	for id := range host.calls {
		if _, isThere := now[id]; !isThere {
			all = append(all, gone(id, host.host.Namespace))
		}
	}
	host.calls = now
	return all, nil
}

// unread returns the warning for a host whose calls could not be read.
func unread(host api.JobSummary, err error) string {
	return fmt.Sprintf("could not read the calls of warm host %s, so the list may lack some: %v", host.ID, err)
}

// withCalls puts the calls of hosts in place of the hosts. If they can't be read, that is an error only if the usual store has them: of
// what it has, a job without a workload passes for one that is gone.
func (b Backend) withCalls(ctx context.Context, found []api.JobSummary) ([]api.JobSummary, error) {
	isHost := func(e api.JobSummary) bool { return e.Workload.Labels[api.LabelWarm] != "" }
	if !slices.ContainsFunc(found, isHost) {
		return found, nil
	}
	var all []api.JobSummary
	var failures []error
	for _, e := range found {
		if !isHost(e) {
			all = append(all, e)
			continue
		}
		calls, err := b.callsOf(ctx, e, nil)
		if err != nil && ctx.Err() == nil && e.Store != b.Usual {
			b.Warn(unread(e, err))
			err = nil
		}
		all, failures = append(all, calls...), append(failures, err)
	}
	return all, errors.Join(failures...)
}

// callsOf describes the calls of a host that have not been cleaned up. What is known of those that have ended, by ID, stays.
func (b Backend) callsOf(ctx context.Context, host api.JobSummary, known map[string]api.JobSummary) ([]api.JobSummary, error) {
	if host.Store == "" {
		return nil, nil
	}
	s, err := b.OpenStore(host.Store)
	if err != nil {
		return nil, err
	}
	ids, unlisted := callIDs(ctx, s, host.ID)
	all, failures := parallel.Collect(job.Parallel, ids, func(id string) (api.JobSummary, error) {
		if call := known[id]; call.State.Ended() {
			return call, nil
		}
		return b.describe(ctx, s, host, id)
	})
	calls := slices.DeleteFunc(all, func(call api.JobSummary) bool { return call.State == api.NotFound })
	if len(failures) > 0 { // most often they are the same
		return calls, failures[0]
	}
	return calls, unlisted
}

// callIDs returns the IDs of the calls that a host was given. With an error, it returns those that it could read.
func callIDs(ctx context.Context, s store.Store, host string) ([]string, error) {
	var ids []string
	for o, err := range s.List(ctx, store.WarmCalls(host), "") {
		if err != nil {
			return ids, fmt.Errorf("looking for the calls of warm host %s: %w", host, err)
		}
		ids = append(ids, o.Name[len(store.WarmCalls(host)):])
	}
	return ids, nil
}

// describe returns what a list shows of a call of a host. The state is NotFound for one that was cleaned up or has another host,
// and for one that was collected, of which the store tells.
func (b Backend) describe(ctx context.Context, s store.Store, host api.JobSummary, id string) (api.JobSummary, error) {
	data, err := records.ReadBytes(ctx, s, store.Handle(id))
	if errors.Is(err, store.ErrNotFound) {
		return gone(id, host.Namespace), nil
	}
	if err != nil {
		return api.JobSummary{}, err
	}
	h, err := api.ParseHandle(data)
	if err != nil || h.Host != host.ID { // it was submitted again, and has another host
		return gone(id, host.Namespace), nil
	}
	now, ended, err := b.ended(ctx, h)
	if err == nil && !ended {
		now, err = b.now(ctx, h, api.WorkloadStatus{Status: host.Status})
	}
	if err != nil {
		return api.JobSummary{}, err
	}
	facts := api.WorkloadFacts{Labels: h.Labels, Submitted: h.CreatedAt}
	if now.State == api.Running {
		of := HostOf(h)
		facts.WarmHost, facts.Hosts = &of, host.Workload.Hosts
	}
	return api.JobSummary{ID: id, Namespace: host.Namespace, State: now.State, Function: h.FuncName, Accelerator: h.Accelerator, Capacity: h.Capacity,
		Created: h.CreatedAt, Store: host.Store, Hosts: h.Hosts, Node: host.Node, Pods: host.Pods, JobDetails: h.Details(), Status: now.Status, Workload: facts}, nil
}
