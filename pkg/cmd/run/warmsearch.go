package run

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// oldList is the age from which a list of hosts is read again: the plan may have read much data meanwhile.
const oldList = 5 * time.Second

// warmSearch lists the warm hosts, and connects to the one that most likely fits, while the call is planned.
type warmSearch struct {
	stop context.CancelFunc
	// listed is closed when the next fields are set. likely is the host that is connected to, "" for none.
	listed chan struct{}
	at     time.Time
	hosts  []kube.WarmHost
	err    error
	likely string
	// connected is closed when the connection is set.
	connected chan struct{}
	connection
}

// searchWarm starts a search. It is nil if the call looks for no warm host. The caller must close it.
func (o *options) searchWarm(ctx context.Context) *warmSearch {
	r := o.request
	if o.mode != modeRun || r.Backend == api.BackendLocal || r.Map != "" || r.KeepWarm.Idle == 0 || r.KeepWarm.Fresh {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	s := &warmSearch{stop: stop, at: o.clock.Now(), listed: make(chan struct{}), connected: make(chan struct{})}
	cluster, err := backend.Cluster(o.connection, o.target, o.target.Namespace)
	if err != nil {
		s.err = err
		close(s.listed)
		close(s.connected)
		return s
	}
	config, err := o.connection.REST(o.target)
	if err != nil {
		s.err = err
		close(s.listed)
		close(s.connected)
		return s
	}
	go s.search(ctx, config, cluster, o.target.Namespace)
	return s
}

// search lists the hosts, and connects to the most likely one. The list takes as long as a connection, so it connects to the last one,
// which is most often the one, meanwhile.
func (s *warmSearch) search(ctx context.Context, config *rest.Config, cluster *kube.Cluster, namespace string) {
	defer close(s.connected)
	last := backend.WarmKeys().Last()
	early := make(chan connection, 1)
	connecting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		if last.Server == config.Host && last.Namespace == namespace && backend.WarmKeys().Recall(last.Host) != nil {
			early <- dialHost(connecting, config, cluster, hostOf(last))
		}
		close(early)
	}()
	likely := s.list(ctx, cluster)
	close(s.listed)
	if likely == nil || likely.ID != last.Host || likely.PodOf(0).UID != last.UID {
		stop()
		go func() { (<-early).close() }()
	} else {
		s.connection = <-early
	}
	if likely == nil {
		runner.WarmZip() // which a new host needs
		return
	}
	if s.conn == nil {
		s.connection = dialHost(ctx, config, cluster, *likely)
	}
	if pod := likely.PodOf(0); s.conn != nil && !s.conn.Slow {
		_ = backend.WarmKeys().SetLast(warm.Reached{Server: config.Host, Namespace: likely.Namespace, Host: likely.ID, Pod: pod.Name, UID: pod.UID})
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

// hostOf returns as much of a host as a connection needs.
func hostOf(r warm.Reached) kube.WarmHost {
	host := kube.WarmHost{Running: []kube.Pod{{Name: r.Pod, UID: r.UID}}}
	host.ID, host.Namespace = r.Host, r.Namespace
	return host
}

// list lists the hosts, and returns the newest of this user if this machine has its key.
func (s *warmSearch) list(ctx context.Context, cluster *kube.Cluster) *kube.WarmHost {
	s.hosts, s.err = cluster.WarmHosts(ctx, "")
	owner := job.CurrentUser()
	for i, host := range s.hosts {
		if host.Owner == owner && host.TakesCalls() && backend.WarmKeys().Recall(host.ID) != nil {
			s.likely = host.ID
			return &s.hosts[i]
		}
	}
	return nil
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
	if now.Sub(s.at) > oldList {
		return cluster.WarmHosts(ctx, "")
	}
	select {
	case <-s.listed:
		return s.hosts, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// take returns the connection to a host and what the host does; nil if there is none, or if that was asked some time ago. The caller must
// close it.
func (s *warmSearch) take(ctx context.Context, id string, now time.Time) (conn *warm.Conn, state warm.State) {
	select {
	case <-s.listed:
	case <-ctx.Done():
		return nil, state
	}
	if s.likely != id || now.Sub(s.at) > oldList {
		return nil, state
	}
	select {
	case <-s.connected:
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
		<-s.connected
		s.connection.close()
	}()
}
