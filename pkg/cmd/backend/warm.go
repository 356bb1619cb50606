package backend

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
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

// DialWarm connects to a pod of a warm host by its number. The first one takes the calls. Without the permission to forward ports, it
// connects through the store of the host. The error is warm.ErrNoHost if the pod does not run.
func DialWarm(ctx context.Context, cluster *kube.Cluster, host kube.WarmHost, number int) (*warm.Conn, error) {
	pod := host.PodOf(number)
	if pod.Name == "" {
		return nil, warm.ErrNoHost
	}
	key, err := WarmKey(ctx, cluster, host)
	if err != nil {
		return nil, err
	}
	way, err := podconn.Dial(ctx, cluster.Config(), podconn.Port{Namespace: host.Namespace, Pod: pod.Name, Number: api.WarmPort})
	if apierrors.IsForbidden(err) && host.Inbox {
		s, err := store.Open(host.Store)
		if err != nil {
			return nil, err
		}
		return warm.ConnectThroughStore(ctx, s, host.ID, number, key, pod.UID)
	}
	if err != nil {
		return nil, cluster.ExplainForward(pod.Name, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = way.Close() })
	defer stop()
	conn, err := warm.Connect(way, key, pod.UID)
	if errors.As(err, new(*podconn.RefusedError)) { // it is just starting, or ending
		return nil, warm.ErrNoHost
	}
	return conn, err
}

// WarmKey returns the key of a host: this machine's copy, if it has started the host, else the one in the host's Secret. The error is
// warm.ErrNoKey without permission to read that.
func WarmKey(ctx context.Context, cluster *kube.Cluster, host kube.WarmHost) ([]byte, error) {
	if key := WarmKeys().Recall(host.ID); key != nil {
		return key, nil
	}
	text, err := cluster.WarmKey(ctx, api.Handle{JobID: host.ID, Namespace: host.Namespace})
	if apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("%w: the machine that started it has a copy; elsewhere it is read from the Secret %s, which takes the verb get on secrets in namespace %s",
			warm.ErrNoKey, api.Spec{ID: host.ID}.SecretName(), host.Namespace)
	}
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("reading the key of warm host %s: %w", host.ID, err)
	}
	return key, nil
}
