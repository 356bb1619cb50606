//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"google.golang.org/api/container/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// mark is the label of the demo's nodes, and a taint that keeps the pods of others away from them.
const mark = "demo-gke"

// nodes are the nodes of the demo's pools in the cluster: as many as each has at least. In a real
// cluster, KWOK plays their kubelets.
type nodes struct {
	access *gcp.Access
	client *http.Client
	url    string
	there  map[string]bool
	// machines are lent to pools with accelerators, which get no other nodes then.
	machines *machines
}

// keepNodes makes the nodes of new pools and removes those of others, until ctx is done; then it
// removes all, and the channel gets the error of that.
func keepNodes(ctx context.Context, server *gcptest.Server, cluster *rest.Config, lent []string) (<-chan error, error) {
	access, err := gcp.New(ctx, server.Env)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(plain(cluster))
	if err != nil {
		return nil, err
	}
	n := &nodes{access: access, client: client, url: strings.TrimSuffix(cluster.Host, "/") + "/api/v1/nodes", there: map[string]bool{}}
	n.machines = &machines{nodes: n, names: lent, lent: map[string]lease{}}
	if err := n.removeAll(ctx); err != nil { // of a demo that was killed
		return nil, err
	}
	gone := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			n.update(ctx) // what fails now is tried again in a second
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		gone <- n.removeAll(ending)
	}()
	return gone, nil
}

func (n *nodes) update(ctx context.Context) {
	clusters, err := gke.Clusters(ctx, n.access, gcptest.DefaultProject)
	if err != nil {
		return
	}
	wanted := map[string]bool{}
	if len(n.machines.names) > 0 {
		n.machines.lend(ctx, wishes(clusters))
	}
	for _, c := range clusters {
		for _, p := range c.NodePools {
			if _, accelerated := gke.Shape(p); p.Status != "RUNNING" || accelerated && len(n.machines.names) > 0 {
				continue
			}
			for i := range gke.Limits(p).Min {
				name := fmt.Sprintf("gke-%s-%s-%d", c.Name, p.Name, i)
				wanted[name] = true
				if !n.there[name] && n.change(ctx, http.MethodPost, "", node(name, p)) == nil {
					n.there[name] = true
				}
			}
		}
	}
	for name := range n.there {
		if !wanted[name] && n.change(ctx, http.MethodDelete, "/"+name, nil) == nil {
			delete(n.there, name)
		}
	}
}

func (n *nodes) removeAll(ctx context.Context) error {
	return errors.Join(n.change(ctx, http.MethodDelete, "?labelSelector="+mark, nil), n.machines.takeAllBack(ctx))
}

// node returns a node of a pool as GKE labels and taints it.
func node(name string, p *container.NodePool) *corev1.Node {
	labels := gke.NodeLabels(p)
	labels[mark], labels[corev1.LabelHostname] = "", name
	amounts := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	if a, ok := gke.Shape(p); ok {
		amounts[corev1.ResourceName(a.Resource)] = *resource.NewQuantity(int64(a.ChipsPerHost), resource.DecimalSI)
	}
	return &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}},
		Spec:       corev1.NodeSpec{Taints: append(gke.NodeTaints(p), corev1.Taint{Key: mark, Effect: corev1.TaintEffectNoSchedule})},
		Status: corev1.NodeStatus{Capacity: amounts, Allocatable: amounts,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// change makes, changes or deletes nodes.
func (n *nodes) change(ctx context.Context, method, path string, object any) error {
	_, err := n.request(ctx, method, path, object)
	return err
}

// request asks for nodes, or changes them. That one exists, or doesn't, is no error.
func (n *nodes) request(ctx context.Context, method, path string, object any) ([]byte, error) {
	var body io.Reader
	if object != nil {
		data, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := n.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode >= http.StatusBadRequest && answer.StatusCode != http.StatusConflict && answer.StatusCode != http.StatusNotFound {
		return nil, fmt.Errorf("%s %s: %s: %s", method, r.URL, answer.Status, text)
	}
	return text, err
}
