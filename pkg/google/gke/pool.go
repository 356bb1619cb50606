package gke

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// Outcome is what came of a change.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "created"
	Changed   Outcome = "changed"
	Removed   Outcome = "removed"
	Unchanged Outcome = "unchanged" // it was so already
)

// Create makes a node pool and waits until it is there. A pool of that name that is the same is
// not made again: one that is being made is waited for. Limits that differ are not changed.
func (c *Client) Create(ctx context.Context, p Planned) (Outcome, error) {
	doing := fmt.Sprintf("creating node pool %s in cluster %s", p.Pool.Name, c.cluster.Name)
	for {
		if err := c.ensurePolicy(ctx, p); err != nil {
			return "", err
		}
		err := c.change(ctx, func() (*container.Operation, error) {
			return c.container.Projects.Locations.Clusters.NodePools.Create(c.cluster.Path(), &container.CreateNodePoolRequest{NodePool: p.Pool}).Context(ctx).Do()
		})
		if err == nil {
			return Created, nil
		}
		if !gcp.IsExists(err) {
			return "", c.refused(err, p.Pool, doing)
		}
		if outcome, gone, err := c.adopt(ctx, p, doing); !gone {
			return outcome, err
		}
	}
}

// adopt finds out whether the pool that has the name is the one that was asked for. It reports
// that the pool is gone if it was just being removed.
func (c *Client) adopt(ctx context.Context, p Planned, doing string) (outcome Outcome, gone bool, err error) {
	outcome = Unchanged
	for {
		found, err := c.container.Projects.Locations.Clusters.NodePools.Get(c.cluster.pool(p.Pool.Name)).Context(ctx).Do()
		if gcp.IsMissing(err) {
			return "", true, nil
		}
		if err != nil {
			return "", false, c.explain(err, doing)
		}
		if text := Difference(found, p.Pool); text != "" {
			return "", false, &transport.Explained{Of: api.KindExists, Do: "choose another --name",
				Text: fmt.Sprintf("%s: the name is taken by a pool with %s; choose another --name, or remove that pool with: %s", doing, text, c.removal(found.Name))}
		}
		if found.Status == "ERROR" {
			return "", false, c.broken(found, doing)
		}
		o, err := c.running(ctx, p.Pool.Name)
		if err != nil {
			return "", false, c.explain(err, doing)
		}
		if o == nil {
			return outcome, false, nil
		}
		outcome = Created
		if err := c.wait(ctx, o); err != nil {
			return "", false, c.refused(err, p.Pool, doing)
		}
	}
}

// broken explains a pool that could not be made.
func (c *Client) broken(p *container.NodePool, doing string) error {
	command := c.removal(p.Name)
	return &transport.Explained{Of: api.KindExists, Do: command,
		Text: fmt.Sprintf("%s: it exists, but making it has failed: %s; remove it with: %s", doing, p.StatusMessage, command)}
}

func (c *Client) removal(pool string) string {
	return "kubectl kinetic pool remove " + pool + c.cluster.Flags()
}

// Difference says how a pool differs from the one that was asked for, "" if it doesn't: in what
// can't be changed later.
func Difference(is, wanted *container.NodePool) string {
	has := fixed(is)
	for i, wants := range fixed(wanted) {
		if has[i].value != wants.value {
			return fmt.Sprintf("%s %s, not %s", wants.name, cmp.Or(has[i].value, "none"), cmp.Or(wants.value, "none"))
		}
	}
	return ""
}

// setting is one setting of a pool; its value is "" if it has none.
type setting struct{ name, value string }

// fixed returns the settings of a pool that can't be changed, the most important first.
func fixed(p *container.NodePool) []setting {
	config, placement := p.Config, p.PlacementPolicy
	if config == nil {
		config = &container.NodeConfig{}
	}
	if placement == nil {
		placement = &container.PlacementPolicy{}
	}
	gpus, reservation := "", ""
	for _, a := range config.Accelerators {
		gpus = fmt.Sprintf("%d %s", a.AcceleratorCount, a.AcceleratorType)
	}
	if r := config.ReservationAffinity; r != nil {
		reservation = strings.Join(r.Values, ",")
	}
	compact := placement.Type == "COMPACT" && placement.TpuTopology == "" // a topology says as much
	return []setting{{"machine type", config.MachineType}, {"accelerators", gpus}, {"topology", placement.TpuTopology},
		{"spot", strconv.FormatBool(config.Spot)}, {"flex-start", strconv.FormatBool(config.FlexStart)}, {"queued provisioning", strconv.FormatBool(IsQueued(p))},
		{"reservation", reservation}, {"compact placement", strconv.FormatBool(compact)}, {"disk size", fmt.Sprintf("%d GB", config.DiskSizeGb)}}
}

// Size is how many nodes a pool has.
type Size struct{ Min, Max int }

// String says it in words: 0 to 10 nodes.
func (s Size) String() string {
	noun := "nodes"
	if s.Max == 1 {
		noun = "node"
	}
	return fmt.Sprintf("%d to %d %s", s.Min, s.Max, noun)
}

// Limits returns the smallest and the largest number of nodes of a pool, in all zones together.
// Without autoscaling, both are what it has.
func Limits(p *container.NodePool) Size {
	zones := max(1, len(p.Locations))
	a := p.Autoscaling
	switch {
	case a == nil || !a.Enabled:
		return Size{int(p.InitialNodeCount) * zones, int(p.InitialNodeCount) * zones}
	case a.TotalMaxNodeCount > 0:
		return Size{int(a.TotalMinNodeCount), int(a.TotalMaxNodeCount)}
	}
	return Size{int(a.MinNodeCount) * zones, int(a.MaxNodeCount) * zones}
}

// LimitsFor returns the limits that a pool that exists should have: its own, unless others were asked
// for.
func (p Planned) LimitsFor(is *container.NodePool) Size {
	s := Limits(is)
	if p.options.MinGiven {
		s.Min = p.options.Min
		s.Max = max(s.Max, s.Min)
	}
	if p.options.Max != 0 {
		s.Max = p.options.Max
		s.Min = min(s.Min, s.Max)
	}
	return s
}

// Describe says how many nodes of which machines a pool may have.
func Describe(p *container.NodePool) string {
	if p.Config == nil {
		return ""
	}
	text := fmt.Sprintf("%s of %s", Limits(p), p.Config.MachineType)
	if p.Config.Spot {
		text += ", spot"
	}
	return text
}

// Autoscaling returns the setting for limits in all zones together.
func Autoscaling(s Size) *container.NodePoolAutoscaling {
	return &container.NodePoolAutoscaling{Enabled: true, LocationPolicy: "ANY", TotalMinNodeCount: int64(s.Min), TotalMaxNodeCount: int64(s.Max)}
}

// sliceAutoscaling is Autoscaling for a slice of several hosts, whose limits are those of its one zone.
func sliceAutoscaling(s Size) *container.NodePoolAutoscaling {
	return &container.NodePoolAutoscaling{Enabled: true, LocationPolicy: "ANY", MinNodeCount: int64(s.Min), MaxNodeCount: int64(s.Max)}
}

// HasLimits reports whether the autoscaler keeps a pool within limits already.
func HasLimits(p *container.NodePool, s Size) bool {
	return Limits(p) == s && p.Autoscaling != nil && p.Autoscaling.Enabled
}

// Resize changes the limits of a pool. They are for all zones together, if those of the pool
// were or if it has one zone.
func (c *Client) Resize(ctx context.Context, p *container.NodePool, s Size) (Outcome, error) {
	scaling := Autoscaling(s)
	if p.PlacementPolicy != nil && p.PlacementPolicy.TpuTopology != "" {
		scaling = sliceAutoscaling(s)
	}
	if HasLimits(p, s) {
		return Unchanged, nil
	}
	err := c.change(ctx, func() (*container.Operation, error) {
		request := &container.SetNodePoolAutoscalingRequest{Autoscaling: scaling}
		return c.container.Projects.Locations.Clusters.NodePools.SetAutoscaling(c.cluster.pool(p.Name), request).Context(ctx).Do()
	})
	if err != nil {
		return "", c.refused(err, p, fmt.Sprintf("changing node pool %s of cluster %s", p.Name, c.cluster.Name))
	}
	return Changed, nil
}

// Delete removes a pool, and its resource policy if that was made for this cluster. Of a pool that doesn't
// exist it removes what is left.
func (c *Client) Delete(ctx context.Context, name string) (Outcome, error) {
	doing := fmt.Sprintf("removing node pool %s of cluster %s", name, c.cluster.Name)
	found, err := c.container.Projects.Locations.Clusters.NodePools.Get(c.cluster.pool(name)).Context(ctx).Do()
	if gcp.IsMissing(err) {
		return c.DeleteLeft(ctx, name)
	}
	if err == nil {
		err = c.change(ctx, func() (*container.Operation, error) {
			return c.container.Projects.Locations.Clusters.NodePools.Delete(c.cluster.pool(name)).Context(ctx).Do()
		})
	}
	if gcp.IsMissing(err) { // someone else was faster, or an answer was lost; or only the operation is missing
		if _, unread := c.container.Projects.Locations.Clusters.NodePools.Get(c.cluster.pool(name)).Context(ctx).Do(); gcp.IsMissing(unread) {
			err = nil
		}
	}
	if err != nil {
		return "", c.explain(err, doing)
	}
	if found.PlacementPolicy != nil && found.PlacementPolicy.PolicyName != "" {
		if _, err := c.deletePolicy(ctx, found.PlacementPolicy.PolicyName); err != nil {
			return "", c.explain(err, removingLeft(name))
		}
	}
	return Removed, nil
}

// DeleteLeft removes what is left of a pool that doesn't exist, and never a pool.
func (c *Client) DeleteLeft(ctx context.Context, pool string) (Outcome, error) {
	left, err := c.deletePolicy(ctx, policyName(c.cluster, pool))
	switch {
	case err != nil:
		return "", c.explain(err, removingLeft(pool))
	case left:
		return Removed, nil
	}
	return Unchanged, nil
}

func removingLeft(pool string) string {
	return fmt.Sprintf("removing the placement policy of node pool %s, which is gone", pool)
}

// refused explains why a pool was not made or changed: a zone without machines is not a fault of
// the request.
func (c *Client) refused(err error, p *container.NodePool, doing string) error {
	// stockouts are what GKE says when a zone has no machines left.
	stockouts := []string{"GCE_STOCKOUT", "ZONE_RESOURCE_POOL_EXHAUSTED", "does not have enough resources available", "out of capacity"}
	for _, text := range stockouts {
		if !strings.Contains(err.Error(), text) || gcp.IsStatus(err, http.StatusNotFound) {
			continue
		}
		zones := cmp.Or(strings.Join(p.Locations, ", "), c.cluster.Location)
		return &transport.Explained{Of: api.KindFailed, Cause: err,
			Text: fmt.Sprintf("%s: %s has no %s machines free now; try other --zones, --spot, --flex-start or a --reservation, or --min-nodes 0, which waits for machines until a job needs them: %v", doing, zones, p.Config.MachineType, err)}
	}
	return c.explain(err, doing)
}
