package run

import (
	"context"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

func (f *flags) forwardedPorts(m mode) ([]backend.Ports, error) {
	switch {
	case len(f.forward) == 0:
		return nil, nil
	case m != modeRun || f.detach:
		return nil, fmt.Errorf("--forward %s: only for a run that waits for its job; later, kubectl kinetic jobs forward ID %[1]s does it", f.forward[0])
	case f.request.Map != "":
		return nil, fmt.Errorf("--forward %s: a map has many pods; kubectl kinetic jobs forward ID %[1]s --index NUMBER forwards a port to one", f.forward[0])
	}
	all := make([]backend.Ports, len(f.forward))
	for i, text := range f.forward {
		ports, err := backend.ParsePorts(text)
		if err != nil {
			return nil, fmt.Errorf("--forward %w", err)
		}
		all[i] = ports
	}
	return all, nil
}

// forwarding is the forwarding of ports while a job is followed.
type forwarding struct {
	*options
	cluster *kube.Cluster // nil for a local job
	tunnels []*backend.Tunnel
	begun   bool
}

// openPorts opens the ports of this machine, before anything is submitted.
func (o *options) openPorts(to destination) (*forwarding, error) {
	f := &forwarding{options: o, cluster: to.cluster}
	if to.cluster == nil {
		return f, nil
	}
	for _, ports := range o.wait.forward {
		tunnel, err := backend.Listen(ports)
		if err != nil {
			f.close()
			return nil, fmt.Errorf("--forward: %w", err)
		}
		f.tunnels = append(f.tunnels, tunnel)
	}
	return f, nil
}

func (f *forwarding) close() {
	for _, tunnel := range f.tunnels {
		tunnel.Close()
	}
}

// seen begins to forward, until ctx is done, when the job runs. What fails is a warning: the job goes on.
func (f *forwarding) seen(ctx context.Context, j *job.Job, s api.Status) {
	if s.State != api.Running || f.begun || len(f.wait.forward) == 0 {
		return
	}
	f.begun = true
	if f.cluster == nil {
		for _, ports := range f.wait.forward {
			f.ui.Note(backend.LocalPortNote(j.ID(), ports.Remote))
		}
		return
	}
	host := backend.NewHost(f.cluster, j.Handle, 0)
	for _, tunnel := range f.tunnels {
		f.ui.Note(fmt.Sprintf("forwarding http://%s to port %d of job %s", tunnel.Address(), tunnel.Remote, j.ID()))
		go func() {
			if err := tunnel.Serve(ctx, host, f.ui.Note); err != nil && ctx.Err() == nil {
				f.ui.Warn(err.Error())
			}
		}()
	}
}
