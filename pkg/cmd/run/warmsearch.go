package run

import (
	"context"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// oldAnswer is the age from which hosts are asked again: the plan may have read much data meanwhile. lastTime limits the attempt to reach
// the host of the last call, before hosts are listed.
const oldAnswer, lastTime = 5 * time.Second, 2 * time.Second

// warmSearch connects to the warm host of this machine's last call, which most often is the one for the next, while the call is planned.
// Hosts are listed only if that fails, or if the host does not fit.
type warmSearch struct {
	stop context.CancelFunc
	at   time.Time
	list func() ([]kube.WarmHost, error)
	// tried is closed when the next fields are set: the host of the last call, as its cluster has it, and a connection to it. They are
	// zero if it was not reached.
	tried chan struct{}
	last  kube.WarmHost
	connection
}

// seeksWarmHost reports whether a call looks for a warm host.
func seeksWarmHost(r api.Request, m mode) bool {
	return m == modeRun && r.Backend != api.BackendLocal && r.Map == "" && r.KeepWarm.Idle > 0 && !r.KeepWarm.Fresh
}

// searchWarm starts a search. It is nil if the call looks for no warm host. The caller must close it.
func (o *options) searchWarm(ctx context.Context) *warmSearch {
	if !seeksWarmHost(o.request, o.mode) {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	s := &warmSearch{stop: stop, at: o.clock.Now(), tried: make(chan struct{})}
	cluster, err := backend.Cluster(o.connection, o.target, o.target.Namespace)
	if err != nil {
		s.list = func() ([]kube.WarmHost, error) { return nil, err }
		close(s.tried)
		return s
	}
	s.list = sync.OnceValues(func() ([]kube.WarmHost, error) { return cluster.WarmHosts(ctx) })
	last := backend.WarmKeys().Last()
	if last.Server != cluster.Config().Host || last.Host.Namespace != o.target.Namespace {
		last = warm.Reached{}
	}
	go s.search(ctx, cluster, last)
	return s
}

// search connects to the host that was reached last. If that fails, it lists the hosts.
func (s *warmSearch) search(ctx context.Context, cluster *kube.Cluster, last warm.Reached) {
	if last.Pod != "" {
		s.reach(ctx, cluster, last)
	}
	found := s.conn != nil
	close(s.tried)
	if found {
		return
	}
	if hosts, err := s.list(); err == nil && len(hosts) == 0 {
		runner.WarmZip() // for a new host
	}
}

// reach connects to a host, and reads it from the cluster meanwhile: its pod takes calls until it ends, a while after the host was deleted.
func (s *warmSearch) reach(ctx context.Context, cluster *kube.Cluster, r warm.Reached) {
	ctx, stop := context.WithTimeout(ctx, lastTime)
	defer stop()
	var host kube.WarmHost
	var read sync.WaitGroup
	read.Go(func() {
		host, _ = cluster.ReachedHost(ctx, r.Host, kube.Pod{Name: r.Pod, UID: r.UID}) // without it, the hosts are listed
	})
	found, err := dialHost(ctx, cluster, hostOf(r)) // only the pod with this UID can answer; if it doesn't, who needs the host tries again
	read.Wait()
	if err == nil && ctx.Err() == nil && host.TakesCalls() {
		s.last, s.connection = host, found
		return
	}
	found.close()
}

// connection is a connection to a host, if any, and what the host does.
type connection struct {
	conn  *warm.Conn
	state warm.State
}

func (c connection) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// hostOf returns as much of a host as is known of it without its cluster.
func hostOf(r warm.Reached) kube.WarmHost {
	host := kube.WarmHost{Handle: r.Host, Running: []kube.Pod{{Name: r.Pod, UID: r.UID}}}
	host.ID, host.Namespace = r.Host.JobID, r.Host.Namespace
	return host
}

// dialHost connects to a host, which then waits for a call for a while.
func dialHost(ctx context.Context, cluster *kube.Cluster, host kube.WarmHost) (connection, error) {
	conn, err := backend.DialWarm(ctx, cluster, host, 0)
	if err != nil {
		return connection{}, err
	}
	state, err := conn.Reserve(ctx)
	if err != nil {
		_ = conn.Close()
		return connection{}, err
	}
	return connection{conn, state}, nil
}

// found returns the warm hosts, listed lately.
func (s *warmSearch) found(ctx context.Context, cluster *kube.Cluster, now time.Time) ([]kube.WarmHost, error) {
	if now.Sub(s.at) > oldAnswer {
		return cluster.WarmHosts(ctx)
	}
	return s.list()
}

// outdate lets the hosts be listed again.
func (s *warmSearch) outdate() { s.at = time.Time{} }

// lastHost returns the host of the last call, and whether there is a connection to it and it said lately that it runs nothing. take
// returns that connection.
func (s *warmSearch) lastHost(ctx context.Context, now time.Time) (candidate, bool) {
	select {
	case <-s.tried:
		return candidate{s.last, s.connection}, s.conn != nil && s.state.Current == "" && now.Sub(s.at) <= oldAnswer
	case <-ctx.Done():
		return candidate{}, false
	}
}

// take returns the connection to a host and what the host does; none if there is none, or if that was asked some time ago. The caller
// must close it.
func (s *warmSearch) take(ctx context.Context, id string, now time.Time) connection {
	select {
	case <-s.tried:
	case <-ctx.Done():
		return connection{}
	}
	if s.last.ID != id || now.Sub(s.at) > oldAnswer {
		return connection{}
	}
	taken := s.connection
	s.conn = nil
	return taken
}

// close ends the search. It does not wait for a host that is silent.
func (s *warmSearch) close() {
	if s == nil {
		return
	}
	s.stop()
	go func() {
		<-s.tried
		s.connection.close()
	}()
}
