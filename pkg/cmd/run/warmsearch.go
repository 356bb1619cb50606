package run

import (
	"cmp"
	"context"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// oldAnswer is the age from which hosts are asked again: the plan may have read much data meanwhile. lastTime is for a connection to the
// host of the last call, before the others are looked for.
const oldAnswer, lastTime = 5 * time.Second, 2 * time.Second

// warmSearch connects to the warm host of this machine's last call, which most often is the one for the next, while the call is planned.
// Only if that fails, or the host does not fit, it lists the hosts.
type warmSearch struct {
	stop context.CancelFunc
	at   time.Time
	list func() ([]kube.WarmHost, error)
	// last is the host of the last call, zero if it is not known.
	last kube.WarmHost
	// tried is closed when the connection to it is set, if there is one.
	tried chan struct{}
	connection
}

// searchWarm starts a search. It is nil if the call looks for no warm host. The caller must close it.
func (o *options) searchWarm(ctx context.Context) *warmSearch {
	r := o.request
	if o.mode != modeRun || r.Backend == api.BackendLocal || r.Map != "" || r.KeepWarm.Idle == 0 || r.KeepWarm.Fresh {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	s := &warmSearch{stop: stop, at: o.clock.Now(), tried: make(chan struct{})}
	cluster, err := backend.Cluster(o.connection, o.target, o.target.Namespace)
	config, configErr := o.connection.REST(o.target)
	if err = cmp.Or(err, configErr); err != nil {
		s.list = func() ([]kube.WarmHost, error) { return nil, err }
		close(s.tried)
		return s
	}
	s.list = sync.OnceValues(func() ([]kube.WarmHost, error) { return cluster.WarmHosts(ctx, "") })
	if last := backend.WarmKeys().Last(); last.Server == config.Host && last.Namespace == o.target.Namespace {
		s.last = hostOf(last)
	}
	go s.search(ctx, config, cluster)
	return s
}

// search connects to the last host, and lists the hosts without it.
func (s *warmSearch) search(ctx context.Context, config *rest.Config, cluster *kube.Cluster) {
	if s.last.ID != "" {
		dialling, stop := context.WithTimeout(ctx, lastTime)
		s.connection = dialHost(dialling, config, cluster, s.last)
		stop()
	}
	found := s.conn != nil
	close(s.tried)
	if found {
		return
	}
	if hosts, err := s.list(); err == nil && len(hosts) == 0 {
		runner.WarmZip() // which a new host needs
	}
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
	host := kube.WarmHost{Key: r.Place, Secrets: r.Secrets, Running: []kube.Pod{{Name: r.Pod, UID: r.UID}}}
	host.ID, host.Namespace = r.Host, r.Namespace
	return host
}

// dialHost connects to a host. If that fails, who needs the host tries again.
func dialHost(ctx context.Context, config *rest.Config, cluster *kube.Cluster, host kube.WarmHost) connection {
	conn, err := backend.DialWarm(ctx, config, cluster, host, 0)
	if err != nil {
		return connection{}
	}
	state, err := conn.Reserve()
	if err != nil {
		_ = conn.Close()
		return connection{}
	}
	return connection{conn, state}
}

// found returns the warm hosts, listed lately.
func (s *warmSearch) found(ctx context.Context, cluster *kube.Cluster, now time.Time) ([]kube.WarmHost, error) {
	if now.Sub(s.at) > oldAnswer {
		return cluster.WarmHosts(ctx, "")
	}
	return s.list()
}

// lastIsIdle reports whether there is a connection to the last host, and it said lately that it runs nothing.
func (s *warmSearch) lastIsIdle(ctx context.Context, now time.Time) bool {
	select {
	case <-s.tried:
		return s.conn != nil && s.state.Current == "" && now.Sub(s.at) <= oldAnswer
	case <-ctx.Done():
		return false
	}
}

// take returns the connection to a host and what the host does; nil if there is none, or if that was asked some time ago. The caller must
// close it.
func (s *warmSearch) take(ctx context.Context, id string, now time.Time) (conn *warm.Conn, state warm.State) {
	if s.last.ID != id || now.Sub(s.at) > oldAnswer {
		return nil, state
	}
	select {
	case <-s.tried:
		conn, s.conn = s.conn, nil
		return conn, s.state
	case <-ctx.Done():
		return nil, state
	}
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
