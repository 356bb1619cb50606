package doctor

import (
	"context"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// nodes counts the nodes, or those with the accelerator that was named.
func (c *cluster) nodes(ctx context.Context) Finding {
	which, selector := "", ""
	if c.Accelerator != nil {
		selector = selectorOf(*c.Accelerator)
		which = " for " + accelerator.Text(*c.Accelerator)
	}
	rows, err := readNodes(ctx, c.server, selector)
	if apierrors.IsForbidden(err) {
		return Skip("no permission to list nodes")
	}
	if err != nil {
		return c.failed("list", "nodes", err)
	}
	var idle []string
	for _, row := range rows {
		if row[1] != "Ready" {
			idle = append(idle, row[0])
		}
	}
	found := c.countNodes(which, selector, len(rows), idle)
	if found.State == OK && c.Accelerator != nil && c.Accelerator.Kind == api.GPU {
		return c.offeredGPUs(ctx, selector, found)
	}
	return found
}

// offeredGPUs returns what is wrong if no node of a selector offers as many GPUs as a job needs, else found.
func (c *cluster) offeredGPUs(ctx context.Context, selector string, found Finding) Finding {
	var nodes corev1.NodeList
	if err := c.server.Get(ctx, &nodes, map[string]string{"labelSelector": selector}, "/api/v1/nodes"); err != nil {
		return c.failed("list", "nodes", err)
	}
	most := int64(0)
	for _, n := range nodes.Items {
		gpus := n.Status.Allocatable[api.ResourceGPU]
		most = max(most, gpus.Value())
	}
	text := accelerator.Text(*c.Accelerator)
	switch needed := c.Accelerator.ChipsPerHost; {
	case len(nodes.Items) == 0 || most >= int64(needed):
		return found
	case most == 0:
		return Bad("kubectl describe nodes -l "+selector, "no node for %s offers a GPU: its driver is being installed, or missing", text)
	case c.Target.GKE:
		return Skip("no node has %d GPUs for %s now, but %d at most; GKE may add some", needed, text, most)
	default:
		return Bad("kubectl describe nodes -l "+selector, "no node has %d GPUs for %s, but %d at most", needed, text, most)
	}
}

// readNodes returns the names of nodes and their states; all nodes if the selector is "".
func readNodes(ctx context.Context, server *apiserver.Client, selector string) ([][]string, error) {
	return apiserver.ReadTable(func(parameters map[string]string) ([]byte, error) {
		if selector != "" {
			parameters["labelSelector"] = selector
		}
		return server.Read(ctx, apiserver.AcceptTable, parameters, "/api/v1/nodes")
	}, "Name", "Status")
}

// Nodes returns a function that counts the nodes with the accelerator that was named.
func Nodes(o ClusterOptions) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		server, err := apiserver.NewClient(o.Config, nil)
		if err != nil {
			return 0, fmt.Errorf("counting nodes: %w", err)
		}
		rows, err := readNodes(ctx, server, selectorOf(*o.Accelerator))
		return len(rows), err
	}
}

// selectorOf chooses the nodes with an accelerator, as the pods of a job do.
func selectorOf(a api.Accelerator) string {
	selected := labels.Set{}
	maps.Copy(selected, a.NodeLabels())
	if a.Spot {
		selected[api.NodeLabelSpot] = "true"
	}
	return selected.String()
}

// countNodes returns the finding for a number of nodes, some of which take no pods.
func (c *cluster) countNodes(which, selector string, all int, idle []string) Finding {
	show := "kubectl get nodes"
	if selector != "" {
		show += " -l " + selector
	}
	ready := all - len(idle)
	switch {
	case all == 0 && c.Target.GKE:
		return Skip("there is no node%s now; GKE may add some", which)
	case ready == 0:
		return Bad(show, "%d of %d nodes%s are ready", ready, all, which)
	case len(idle) > 0:
		return Good("%d of %d nodes%s are ready; not %s", ready, all, which, someOf(idle))
	default:
		return Good("%d%s, all ready", all, which)
	}
}

// someOf returns the first of some names, and how many others there are.
func someOf(names []string) string {
	const enough = 3
	if len(names) <= enough {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:enough], ", "), len(names)-enough)
}
