package run

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

// warmSearch lists the warm hosts, and connects to the one that most likely fits, while the call is planned.
type warmSearch struct {
	stop context.CancelFunc
	done chan struct{} // closed when the fields below are set

	hosts []kube.WarmHost
	err   error
	// likely is the ID of the host with the connection.
	likely string
	conn   *warm.Conn
}

// searchWarm starts a search. It is nil if the call looks for no warm host. The caller must close it.
func (o *options) searchWarm(ctx context.Context) *warmSearch {
	w := o.request.KeepWarm
	if o.mode != modeRun || o.request.Backend == api.BackendLocal || w.Idle == 0 || w.Fresh {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	s := &warmSearch{stop: stop, done: make(chan struct{})}
	cluster, err := backend.Cluster(o.connection, o.target, o.target.Namespace)
	if err != nil {
		s.err = err
		close(s.done)
		return s
	}
	go func() {
		defer close(s.done)
		if s.hosts, s.err = cluster.WarmHosts(ctx, ""); s.err == nil {
			s.connect(ctx, o, cluster)
		}
	}()
	return s
}

// connect connects to the newest host of this user. If that fails, who needs the host tries again.
func (s *warmSearch) connect(ctx context.Context, o *options, cluster *kube.Cluster) {
	owner := job.CurrentUser()
	for _, host := range s.hosts {
		if host.Owner != owner || !host.TakesCalls() {
			continue
		}
		if config, err := o.connection.REST(o.target); err == nil {
			s.likely = host.ID
			s.conn, _ = backend.DialWarm(ctx, config, cluster, host, 0)
		}
		return
	}
}

// found returns the warm hosts.
func (s *warmSearch) found() ([]kube.WarmHost, error) {
	<-s.done
	return s.hosts, s.err
}

// take returns the connection to a host, nil if there is none. The caller must close it.
func (s *warmSearch) take(id string) (conn *warm.Conn) {
	<-s.done
	if s.likely == id {
		conn, s.conn = s.conn, nil
	}
	return conn
}

// close ends the search. It does not wait for a host that is silent.
func (s *warmSearch) close() {
	if s == nil {
		return
	}
	s.stop()
	go func() {
		<-s.done
		if s.conn != nil {
			_ = s.conn.Close()
		}
	}()
}
