//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"
	"google.golang.org/api/container/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/hack/kwok"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

const (
	manyNodes  = 1000
	manyPools  = 30
	benchNodes = "kubebox/bench"
)

// pools: the node pools of a large cluster, with what uses them.
func (c *cluster) pools(ctx context.Context) error {
	cloud, err := gcptest.Start()
	if err != nil {
		return err
	}
	defer cloud.Close()
	main := &container.Cluster{Name: "main"}
	for i := range manyPools {
		p, err := poolNumber(i)
		if err != nil {
			return err
		}
		main.NodePools = append(main.NodePools, p)
	}
	cloud.AddCluster(gcptest.DefaultProject, "us-central1-a", main)
	many := *c
	many.namespace += "-pools"
	many.env = append(many.env[:len(many.env):len(many.env)], cloud.Environ()...)
	if err := many.make(ctx, "/api/v1/namespaces", `{"metadata":{"name":"`+many.namespace+`"}}`); err != nil {
		return err
	}
	defer func() {
		for _, path := range []string{"/api/v1/namespaces/" + many.namespace, "/api/v1/nodes?labelSelector=" + url.QueryEscape(benchNodes)} {
			_ = request(ctx, c.http, http.MethodDelete, c.server+path, "", nil)
		}
	}()
	if err := many.make(ctx, "/api/v1/namespaces/"+many.namespace+"/serviceaccounts", `{"metadata":{"name":"kinetic"}}`); err != nil {
		return err
	}
	if err := many.occupy(ctx, main.NodePools); err != nil {
		return err
	}
	list := many.ours(ctx, "pool", "list", "--project", gcptest.DefaultProject, "--zone", "us-central1-a", "--cluster", "main", "--context", "kubebox")
	ours, kubectl, err := pair(runs, list, many.kubectl(ctx, "get", "nodes"))
	if err != nil {
		return err
	}
	c.compare(fmt.Sprintf("pool list / kubectl get nodes, of %d pools with %d nodes and a pod on each", manyPools, manyNodes), ours, kubectl, "<= 1.50x")
	return nil
}

// poolNumber returns one of several pools.
func poolNumber(i int) (*container.NodePool, error) {
	texts := []string{"l4", "v6e-4x4", "h100x8", "v5p-8", "v6e-8:spot"}
	a, err := accelerator.Parse(texts[i%len(texts)], accelerator.Options{})
	if err != nil {
		return nil, err
	}
	p, err := gke.Plan(a, gke.Options{Name: fmt.Sprintf("pool-%d", i)})
	return p.Pool, err
}

// occupy makes the nodes of pools, and a pod of a job on each.
func (c *cluster) occupy(ctx context.Context, pools []*container.NodePool) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	for i := range manyNodes {
		p := pools[i%len(pools)]
		g.Go(func() error {
			node, pod, err := occupied(p, i)
			return errors.Join(err, c.make(ctx, "/api/v1/nodes", node), c.make(ctx, "/api/v1/namespaces/"+c.namespace+"/pods", pod))
		})
	}
	return g.Wait()
}

// occupied returns a node of a pool that exists in the API only, and a pod on it.
func occupied(p *container.NodePool, i int) (node, pod string, err error) {
	a, _ := gke.Shape(p)
	n := kwok.Node(p, fmt.Sprintf("bench-%d", i), benchNodes)
	chips := corev1.ResourceList{corev1.ResourceName(a.Resource): n.Status.Capacity[corev1.ResourceName(a.Resource)]}
	w := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{api.LabelJobID: fmt.Sprintf("bench-%d", i%100)}},
		Spec: corev1.PodSpec{NodeName: n.Name, ServiceAccountName: "kinetic", AutomountServiceAccountToken: new(false), Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{Name: api.ContainerName, Image: "none", Resources: corev1.ResourceRequirements{Requests: chips, Limits: chips}}}}}
	nodeText, nodeErr := json.Marshal(n)
	podText, podErr := json.Marshal(w)
	return string(nodeText), string(podText), errors.Join(nodeErr, podErr)
}
