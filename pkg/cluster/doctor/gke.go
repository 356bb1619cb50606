package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	container "google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

func (c *cloud) state(ctx context.Context) Finding {
	cluster, err := c.cluster(ctx)
	t := c.Target
	var missing *gke.NoClusterError
	switch {
	case errors.As(err, &missing):
		return Bad(c.choose(missing.Others), "%v", missing)
	case c.isDisabled(err):
		return Bad(c.up(), "%v: the API %s is not enabled", &gke.NoClusterError{Cluster: c.wanted()}, gcp.Container.API())
	case c.api().ChargesOther(err, t.Project):
		return Lacking(QuotaProjectCheck)
	case err != nil:
		return failed(err)
	case cluster.Status != "RUNNING" && cluster.Status != "RECONCILING":
		return Bad("", "%s is %s%s", t.Cluster, cluster.Status, because(cluster.StatusMessage))
	case cluster.WorkloadIdentityConfig == nil || cluster.WorkloadIdentityConfig.WorkloadPool == "":
		return Bad(fmt.Sprintf("gcloud container clusters update %s --workload-pool=%s.svc.id.goog --location %s --project %s", t.Cluster, t.Project, t.Zone, t.Project),
			"%s has no Workload Identity, so pods can't access the bucket", t.Cluster)
	}
	mode := ""
	if gke.IsAutopilot(cluster) {
		mode = ", Autopilot"
	}
	return Good("%s is %s, version %s%s", t.Cluster, cluster.Status, cluster.CurrentMasterVersion, mode)
}

func (c *cloud) up() string { return "kubectl kinetic up" + c.wanted().Flags() }

// choose returns what to do if a project has only other clusters, "main in us-central1-a": one of the same name is
// probably meant.
func (c *cloud) choose(others []string) string {
	var locations []string
	for _, other := range others {
		if name, location, _ := strings.Cut(other, " in "); name == c.Target.Cluster {
			locations = append(locations, location)
		}
	}
	if len(locations) == 0 {
		return c.up()
	}
	other := c.wanted()
	other.Location = locations[0]
	return "kubectl kinetic doctor" + other.Flags()
}

func because(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

// pools looks at the node pools, and for one with the accelerator that was named.
func (c *cloud) pools(ctx context.Context) Finding {
	cluster, err := c.cluster(ctx)
	if err != nil {
		return Lacking(GKECheck)
	}
	if gke.IsAutopilot(cluster) { // its pools are GKE's own
		return withoutPools(c.Accelerator)
	}
	t := c.Target
	for _, p := range cluster.NodePools {
		if p.Status == "ERROR" || p.Status == "RUNNING_WITH_ERROR" {
			return Bad(fmt.Sprintf("gcloud container node-pools describe %s --cluster %s --location %s --project %s", p.Name, t.Cluster, t.Zone, t.Project),
				"%s is %s%s", p.Name, p.Status, because(p.StatusMessage))
		}
	}
	a := c.Accelerator
	if a == nil || a.Kind == api.CPU && !a.Spot {
		return Good("%s", shapes(cluster.NodePools))
	}
	var others []string
	for _, p := range cluster.NodePools {
		shape, known := gke.Shape(p)
		if !known || !fits(shape, *a) {
			if known && isTwin(shape, *a) {
				others = append(others, fmt.Sprintf("%s has it on %d hosts, for run --backend lws", p.Name, shape.Hosts))
			}
			continue
		}
		switch sharing := gke.Sharing(p); {
		case sharing != "":
			others = append(others, fmt.Sprintf("%s shares each GPU (%s)", p.Name, sharing))
		case gke.IsQueued(p):
			others = append(others, p.Name+" is for jobs whose queue asks for its machines (run --queue)")
		case !a.Spot && gke.IsSpotOnly(p):
			others = append(others, p.Name+" is for spot jobs (run --spot)")
		case a.Spot && !p.Config.Spot:
			others = append(others, p.Name+" is preemptible, and its nodes lack the label of spot nodes")
		default:
			if plain := gke.PlainNetwork(cluster, p); plain != "" {
				return Good("%s has %s; %s", p.Name, accelerator.Text(*a), plain)
			}
			return Good("%s has %s", p.Name, accelerator.Text(*a))
		}
	}
	if cluster.Autoscaling != nil && cluster.Autoscaling.EnableNodeAutoprovisioning {
		return Skip("none has %s, but GKE may make one, if its limits allow", accelerator.Text(*a))
	}
	return Bad("kubectl kinetic pool add "+accelerator.Text(*a)+capacityFlag(*a)+c.wanted().Flags(),
		"%s", strings.Join(append([]string{"none has " + accelerator.Text(*a)}, others...), "; "))
}

// isTwin reports whether a pool has the slice of a job on another number of hosts: the nodes have the same labels
// but for their chips. Pools of keras-kinetic for v6e-8 and v5e-8 are such.
func isTwin(pool, job api.Accelerator) bool {
	return pool.Kind == api.TPU && pool.Name == job.Name && pool.Topology == job.Topology && pool.ChipsPerHost != job.ChipsPerHost
}

// capacityFlag returns the flag without which a pool of machines would never get a node, " --flex-start"; "" for
// those that are sold on demand.
func capacityFlag(a api.Accelerator) string {
	flags := accelerator.NotOnDemand(a)
	switch {
	case flags == nil || a.Spot:
		return ""
	case flags[0] == "--reservation":
		return " --reservation NAME"
	}
	return " " + flags[0]
}

// withoutPools returns the finding for a cluster without pools to choose from.
func withoutPools(a *api.Accelerator) Finding {
	const text = "Autopilot makes the nodes of each job"
	if a != nil && a.Hosts > 1 {
		return Skip("%s; a job on several hosts needs --slice-node-pool shared", text)
	}
	return Skip("%s", text)
}

// fits reports whether jobs on an accelerator find nodes in a pool of a shape. A job on fewer GPUs than a
// machine has fits, too.
func fits(pool, job api.Accelerator) bool {
	if pool.Kind == api.GPU && job.Kind == api.GPU {
		return pool.Name == job.Name && pool.ChipsPerHost >= job.ChipsPerHost && (pool.Spot || !job.Spot)
	}
	return pool.Name == job.Name && pool.Topology == job.Topology && pool.ChipsPerHost == job.ChipsPerHost && (pool.Spot || !job.Spot)
}

func shapes(pools []*container.NodePool) string {
	var all []string
	others := false
	for _, p := range pools {
		shape, known := gke.Shape(p)
		switch text := accelerator.Text(shape); {
		case !known:
			others = true
		case !slices.Contains(all, text):
			all = append(all, text)
		}
	}
	if others {
		all = append(all, "other machines")
	}
	return fmt.Sprintf("%d, with %s", len(pools), strings.Join(all, ", "))
}

func (c *cloud) metadata(ctx context.Context) Finding {
	cluster, err := c.cluster(ctx)
	switch {
	case err != nil, cluster.WorkloadIdentityConfig == nil || cluster.WorkloadIdentityConfig.WorkloadPool == "":
		return Lacking(GKECheck)
	case gke.IsAutopilot(cluster): // GKE sets it for all nodes
		return Good("pods act as their own service account")
	}
	var pools, commands []string
	for _, p := range cluster.NodePools {
		if gke.Metadata(p) != gke.PodMetadata {
			pools, commands = append(pools, p.Name), append(commands, c.wanted().SetPodMetadata(p.Name))
		}
	}
	if len(pools) == 0 {
		return Good("pods act as their own service account")
	}
	return Bad(strings.Join(commands, " && "), "pods act as the service account of the node on %s, so jobs can lack access to the bucket, or have more rights than intended; GKE replaces these nodes for the change",
		strings.Join(pools, ", "))
}

// lifetime looks for nodes that GKE deletes while jobs run there.
func (c *cloud) lifetime(ctx context.Context) Finding {
	cluster, err := c.cluster(ctx)
	if err != nil {
		return Lacking(GKECheck)
	}
	if text := c.wanted().Lifetimes(cluster); text != "" && !gke.IsAutopilot(cluster) {
		return Skip("%s", text)
	}
	return Good("no pool limits it")
}
