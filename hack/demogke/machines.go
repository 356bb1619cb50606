//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"google.golang.org/api/container/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// machines are nodes of a real cluster, on which containers run. Pools with accelerators borrow them: until its pool
// is gone, such a node has the labels, the taints and the number of chips that GKE would give it. So jobs for the
// pool run there, without chips.
type machines struct {
	*nodes
	names []string
	// lent are the machines that pools have, by name.
	lent map[string]lease
}

// lease is the pool that has a machine.
type lease struct{ cluster, pool string }

// wasAnnotation is on a machine that is lent: what it was before.
const wasAnnotation = "demo-gke/was"

// former is what a lease changes of a machine. Null stands for what was not there.
type former struct {
	Labels map[string]*string `json:"labels"`
	Taints []corev1.Taint     `json:"taints"`
	Chips  map[string]*string `json:"chips"`
}

// wish is a node that a pool would get from an autoscaler.
type wish struct {
	lease
	pool *container.NodePool
}

// wishes returns as many for each pool with accelerators as it has nodes at most.
func wishes(clusters []*container.Cluster) []wish {
	var all []wish
	for _, c := range clusters {
		for _, p := range c.NodePools {
			if _, accelerated := gke.Shape(p); accelerated && p.Status == "RUNNING" {
				all = append(all, slices.Repeat([]wish{{lease{c.Name, p.Name}, p}}, gke.Limits(p).Max)...)
			}
		}
	}
	return all
}

// lend gives the machines back that nobody wishes any more, and the free ones to those who wait.
func (m *machines) lend(ctx context.Context, wanted []wish) {
	for _, name := range m.names {
		has, lent := m.lent[name]
		if !lent {
			continue
		}
		if i := slices.IndexFunc(wanted, func(w wish) bool { return w.lease == has }); i >= 0 {
			wanted = slices.Delete(wanted, i, i+1)
		} else if m.takeBack(ctx, name) == nil {
			delete(m.lent, name)
		}
	}
	for _, name := range m.names {
		if _, lent := m.lent[name]; lent || len(wanted) == 0 {
			continue
		}
		if m.dress(ctx, name, wanted[0].pool) == nil {
			m.lent[name] = wanted[0].lease
			wanted = wanted[1:]
		}
	}
}

// takeAllBack makes all machines what they were.
func (m *machines) takeAllBack(ctx context.Context) error {
	var all []error
	for _, name := range m.names {
		all = append(all, m.takeBack(ctx, name))
	}
	return errors.Join(all...)
}

// dress makes a machine a node of a pool.
func (m *machines) dress(ctx context.Context, name string, p *container.NodePool) error {
	node, err := m.node(ctx, name)
	if err != nil {
		return err
	}
	want, was := clothes(node, p)
	text, err := json.Marshal(was)
	if err != nil {
		return err
	}
	written := string(text)
	return m.put(ctx, name, want, &written)
}

// clothes returns what a machine must get to be a node of a pool, and what it has instead.
func clothes(node corev1.Node, p *container.NodePool) (want, was former) {
	want = former{Labels: map[string]*string{}, Taints: gke.NodeTaints(p), Chips: map[string]*string{}}
	was = former{Labels: map[string]*string{}, Taints: node.Spec.Taints, Chips: map[string]*string{}}
	for _, a := range accelerator.Catalogue() { // what it may have of others goes
		for label := range a.NodeLabels() {
			want.Labels[label] = nil
		}
		if a.Resource != "" {
			want.Chips[a.Resource] = nil
		}
	}
	for label, value := range gke.NodeLabels(p) {
		want.Labels[label] = &value
	}
	if a, accelerated := gke.Shape(p); accelerated {
		chips := strconv.Itoa(a.ChipsPerHost)
		want.Chips[a.Resource] = &chips
	}
	for label := range want.Labels {
		was.Labels[label] = nil
		if value, has := node.Labels[label]; has {
			was.Labels[label] = &value
		}
	}
	for resource := range want.Chips {
		was.Chips[resource] = nil
		if amount, has := node.Status.Capacity[corev1.ResourceName(resource)]; has {
			text := amount.String()
			was.Chips[resource] = &text
		}
	}
	return want, was
}

// takeBack makes a machine what it was, if it is lent.
func (m *machines) takeBack(ctx context.Context, name string) error {
	node, err := m.node(ctx, name)
	if err != nil {
		return err
	}
	text, lent := node.Annotations[wasAnnotation]
	if !lent {
		return nil
	}
	var was former
	if err := json.Unmarshal([]byte(text), &was); err != nil {
		return fmt.Errorf("annotation %s of node %s: %w", wasAnnotation, name, err)
	}
	return m.put(ctx, name, was, nil)
}

// put changes a machine. The chips come first: with the labels, jobs find it.
func (m *machines) put(ctx context.Context, name string, f former, was *string) error {
	status := map[string]any{"status": map[string]any{"capacity": f.Chips, "allocatable": f.Chips}}
	if _, err := m.request(ctx, http.MethodPatch, "/"+name+"/status", status); err != nil {
		return err
	}
	taints := slices.Clone(f.Taints)
	if taints == nil {
		taints = []corev1.Taint{}
	}
	_, err := m.request(ctx, http.MethodPatch, "/"+name, map[string]any{
		"metadata": map[string]any{"labels": maps.Clone(f.Labels), "annotations": map[string]*string{wasAnnotation: was}},
		"spec":     map[string]any{"taints": taints},
	})
	return err
}

func (m *machines) node(ctx context.Context, name string) (corev1.Node, error) {
	var node corev1.Node
	text, err := m.request(ctx, http.MethodGet, "/"+name, nil)
	if err == nil && (json.Unmarshal(text, &node) != nil || node.Name != name) {
		err = fmt.Errorf("the cluster has no node %s", name)
	}
	return node, err
}
