package run

import (
	"context"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
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
	// connected is closed when conn is set, which is nil if there is no connection, and what its host does.
	connected chan struct{}
	conn      *warm.Conn
	state     warm.State
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
	go func() {
		defer close(s.connected)
		likely := s.list(ctx, cluster)
		close(s.listed)
		if likely != nil {
			s.connect(ctx, o, cluster, *likely)
		}
	}()
	return s
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

// connect connects to a host. If that fails, who needs the host tries again.
func (s *warmSearch) connect(ctx context.Context, o *options, cluster *kube.Cluster, host kube.WarmHost) {
	config, err := o.connection.REST(o.target)
	if err != nil {
		return
	}
	conn, err := backend.DialWarm(ctx, config, cluster, host, 0)
	if err != nil {
		return
	}
	if s.state, err = conn.Reserve(); err != nil {
		_ = conn.Close()
		return
	}
	s.conn = conn
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
		if s.conn != nil {
			_ = s.conn.Close()
		}
	}()
}
