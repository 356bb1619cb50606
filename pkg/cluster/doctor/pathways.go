package doctor

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// pathways looks whether a TPU host has room for the leader of a job with the Pathways runtime, and whether the runtime can
// keep compiled programs. The leader asks for what is usual, and its sidecars for more.
func (c *cluster) pathways(ctx context.Context) Finding {
	a := *c.Accelerator
	share, machine := accelerator.Share(a), accelerator.Largest(a)
	cpus, gib := share.CPUs+api.PathwaysCPUs, share.GiB+api.PathwaysGiB
	leader := fmt.Sprintf("the leader, with %d CPUs and %d GiB", cpus, gib)
	var nodes corev1.NodeList
	err := c.server.Get(ctx, &nodes, map[string]string{"labelSelector": selectorOf(*c.Accelerator)}, "/api/v1/nodes")
	if err != nil && !apierrors.IsForbidden(err) {
		return c.failed("list", "nodes", err)
	}
	fits := false
	for _, n := range nodes.Items {
		free := n.Status.Allocatable
		fits = fits || free.Cpu().CmpInt64(int64(cpus)) >= 0 && free.Memory().Cmp(resource.MustParse(fmt.Sprintf("%dGi", gib))) >= 0
	}
	switch {
	case len(nodes.Items) > 0 && !fits:
		return Bad("kubectl get nodes -l "+selectorOf(*c.Accelerator), "no node for %s has room for %s: ask for less with --cpu and --memory", accelerator.Text(a), leader)
	case cpus > machine.CPUs || gib > machine.GiB:
		return Bad("", "%s, does not fit on %s: ask for less with --cpu and --memory", leader, machine.Machine)
	case !strings.HasPrefix(c.Target.Store, "gs://"):
		return Skip("%s, fits; without a gs:// store the runtime keeps no compiled programs", leader)
	}
	return Good("%s, fits on %s; compiled programs go to %s/%s", leader, machine.Machine, c.Target.Store, api.PathwaysScratch)
}
