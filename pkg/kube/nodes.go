package kube

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/itemlist"
)

const (
	// nodesTime is how long the nodes are waited for: they only make a reason clearer.
	nodesTime = 2 * time.Second
	// nodesAge is how old they may be.
	nodesAge = time.Minute
)

// status returns the status of a job, with why it waits if it does. If that is about nodes, it reads them.
func (c *Cluster) status(ctx context.Context, s snapshot) api.WorkloadStatus {
	o := s.observed(c.client.now())
	if o.WantsNodes() {
		o.Nodes = c.knownNodes(ctx)
	}
	return o.Status()
}

// knownNodes returns the nodes of the cluster, read now and then; nil if they can't be read, or are too many.
func (c *Cluster) knownNodes(ctx context.Context) []corev1.Node {
	c.nodesMu.Lock()
	defer c.nodesMu.Unlock()
	if now := c.client.now(); now.Sub(c.nodesRead) > nodesAge {
		c.nodes = c.client.nodes(ctx)
		if ctx.Err() == nil {
			c.nodesRead = now
		}
	}
	return c.nodes
}

// nodes returns the nodes of a cluster with what matters for where pods fit, nil without permission to list them.
func (c *Client) nodes(ctx context.Context) []corev1.Node {
	ctx, cancel := context.WithTimeout(ctx, nodesTime)
	defer cancel()
	body, err := c.core.Get().Resource("nodes").VersionedParams(&metav1.ListOptions{Limit: pageSize}, c.codec).Stream(ctx)
	if err != nil {
		return nil
	}
	defer body.Close()
	var all []corev1.Node
	about, err := itemlist.Read(body, c.decoder, &corev1.NodeList{}, itemlist.Slim, func(o runtime.Object) {
		if n, ok := o.(*corev1.Node); ok {
			all = append(all, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}, Status: corev1.NodeStatus{Allocatable: n.Status.Allocatable}})
		}
	})
	if err != nil || about.GetContinue() != "" {
		return nil
	}
	return all
}
