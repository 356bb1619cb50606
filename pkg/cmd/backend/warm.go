package backend

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/portforward"
)

// WarmKeys returns the keys of the warm hosts that this machine has started.
func WarmKeys() warm.Keys { return warm.Keys{Dir: filepath.Join(cacheDir(), "warm")} }

// DialWarm connects to a warm host, whose handle needs no more than its ID and its namespace.
func DialWarm(ctx context.Context, config *rest.Config, cluster *kube.Cluster, namespace string, host api.Handle) (*warm.Conn, error) {
	pod, uid, err := cluster.WarmPod(ctx, host)
	if err != nil {
		return nil, err
	}
	if pod == "" {
		return nil, warm.ErrNoHost
	}
	return dialWarmPod(ctx, config, cluster, cmp.Or(namespace, host.Namespace), host, pod, uid)
}

// DialWarmHost connects to a listed warm host.
func DialWarmHost(ctx context.Context, config *rest.Config, cluster *kube.Cluster, host kube.WarmHost) (*warm.Conn, error) {
	if host.Pod == "" {
		return nil, warm.ErrNoHost
	}
	return dialWarmPod(ctx, config, cluster, host.Namespace, api.Handle{JobID: host.ID, Namespace: host.Namespace}, host.Pod, host.PodUID)
}

func dialWarmPod(ctx context.Context, config *rest.Config, cluster *kube.Cluster, namespace string, host api.Handle, pod, uid string) (*warm.Conn, error) {
	key := WarmKeys().Recall(host.JobID)
	if key == nil { // another machine has started it
		text, err := cluster.WarmKey(ctx, host)
		if err != nil {
			return nil, err
		}
		if key, err = hex.DecodeString(text); err != nil {
			return nil, fmt.Errorf("reading the key of warm host %s: %w", host.JobID, err)
		}
	}
	way, err := portforward.Dial(ctx, config, portforward.Port{Namespace: namespace, Pod: pod, Number: api.WarmPort})
	if err != nil {
		return nil, cluster.ExplainForward(pod, err)
	}
	conn, err := warm.Connect(way, key, uid)
	var refused *portforward.RefusedError
	if errors.As(err, &refused) { // it is just starting, or ending
		return nil, warm.ErrNoHost
	}
	return conn, err
}
