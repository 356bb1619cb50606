package kube

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

const (
	// aroundTime is how long what is around a job is waited for: it only makes a reason clearer.
	aroundTime = 2 * time.Second
	// aroundAge is how old it may be.
	aroundAge = time.Minute
)

// around is what a job that waits may be waiting for: the nodes of the cluster, nil if they can't be read or are too
// many, and the pods of the warm hosts of the namespace.
type around struct {
	nodes []corev1.Node
	warm  []corev1.Pod
	read  time.Time
}

// status returns the status of a job, with why it waits if it does. If that is about nodes, it reads them.
func (c *Cluster) status(ctx context.Context, s snapshot) api.WorkloadStatus {
	o := s.observed(c.client.now())
	if o.WantsNodes() {
		now := c.knownAround(ctx)
		o.Nodes, o.WarmPods = now.nodes, now.warm
	}
	return o.Status()
}

func (c *Cluster) knownAround(ctx context.Context) around {
	c.aroundMu.Lock()
	defer c.aroundMu.Unlock()
	if now := c.client.now(); now.Sub(c.around.read) > aroundAge {
		limited, cancel := context.WithTimeout(ctx, aroundTime)
		defer cancel()
		read := around{read: now}
		var reading sync.WaitGroup
		reading.Go(func() { read.nodes = c.client.nodes(limited) })
		reading.Go(func() { read.warm = c.client.warmPods(limited) })
		reading.Wait()
		if ctx.Err() != nil {
			return read
		}
		c.around = read
	}
	return c.around
}

// nodes returns the nodes of a cluster with what matters for where pods fit, nil without permission to list them.
func (c *Client) nodes(ctx context.Context) []corev1.Node {
	body, err := c.core.Get().Resource("nodes").VersionedParams(&metav1.ListOptions{Limit: joblist.PageSize}, c.codec).Stream(ctx)
	if err != nil {
		return nil
	}
	defer body.Close()
	var all []corev1.Node
	about, err := joblist.ReadItems(body, c.decoder, &corev1.NodeList{}, joblist.Slim, func(o runtime.Object) {
		if n, ok := o.(*corev1.Node); ok {
			all = append(all, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels},
				Spec: corev1.NodeSpec{Taints: n.Spec.Taints}, Status: corev1.NodeStatus{Allocatable: n.Status.Allocatable}})
		}
	})
	if err != nil || about.GetContinue() != "" {
		return nil
	}
	return all
}

// warmPods returns the pods of the warm hosts of the namespace, none if they can't be read.
func (c *Client) warmPods(ctx context.Context) []corev1.Pod {
	var pods corev1.PodList
	about := &metav1.ListOptions{LabelSelector: api.LabelWarm, Limit: joblist.PageSize}
	if err := c.core.Get().Namespace(c.namespace).Resource("pods").VersionedParams(about, c.codec).Do(ctx).Into(&pods); err != nil {
		return nil
	}
	return pods.Items
}
