package backend

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/portforward"
)

// WarmKeys returns the keys of the warm hosts that this machine has started.
func WarmKeys() warm.Keys { return warm.Keys{Dir: filepath.Join(cacheDir(), "warm")} }

// Ringing returns a registry of ClusterRegistry for the call that a host was given on a connection: it is followed there first.
func Ringing(r job.Registry, call string, conn *warm.Conn) job.Registry {
	recorder, ok := r.Backend.(resultRecorder)
	if jobs, isWarm := recorder.Backend.(warm.Backend); ok && isWarm {
		jobs.Rung = &warm.Rung{ID: call, Conn: conn}
		recorder.Backend = jobs
		r.Backend = recorder
	}
	return r
}

// DialWarm connects to a pod of a warm host by its number. The first one takes the calls. The error is warm.ErrNoHost if it does
// not run.
func DialWarm(ctx context.Context, config *rest.Config, cluster *kube.Cluster, host kube.WarmHost, number int) (*warm.Conn, error) {
	pod := host.PodOf(number)
	if pod.Name == "" {
		return nil, warm.ErrNoHost
	}
	key := WarmKeys().Recall(host.ID)
	if key == nil { // another machine has started it
		text, err := cluster.WarmKey(ctx, api.Handle{JobID: host.ID, Namespace: host.Namespace})
		if err != nil {
			return nil, err
		}
		if key, err = hex.DecodeString(text); err != nil {
			return nil, fmt.Errorf("reading the key of warm host %s: %w", host.ID, err)
		}
	}
	way, err := portforward.Dial(ctx, config, portforward.Port{Namespace: host.Namespace, Pod: pod.Name, Number: api.WarmPort})
	if err != nil {
		return nil, cluster.ExplainForward(pod.Name, err)
	}
	conn, err := warm.Connect(way, key, pod.UID)
	var refused *portforward.RefusedError
	if errors.As(err, &refused) { // it is just starting, or ending
		return nil, warm.ErrNoHost
	}
	return conn, err
}
