// Package gke knows node pools: which request makes one for a shape of the catalogue, what its
// nodes get, which shape an existing one has, and how to make, change and remove one through
// GKE's API.
package gke

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Options are what a user may choose about a node pool. The accelerator says whether it is spot.
type Options struct {
	Cluster Cluster // where the pool will be
	Name    string  // "" for one that follows from the rest
	// Min and Max are the number of nodes in all zones together. Max is 0 for the usual number.
	// A slice of several hosts has all of its nodes or none.
	Min, Max int
	// MinGiven says that Min was asked for, so that a pool that exists should have it.
	MinGiven bool
	// Reservation is one that api.ParseReservation reads, "" for none.
	Reservation string
	FlexStart   bool
	// Queued means that GKE makes nodes only for jobs whose queue asks it to, all of a job's at once
	// (queued provisioning). It needs FlexStart.
	Queued bool
	// Compact places the machines of GPUs close to each other, in one zone.
	Compact bool
	Zones   []string
	DiskGB  int // 0 for the usual size
	Labels  map[string]string
	Nodes   Nodes
}

// Nodes are what nodes of a cluster have in common.
type Nodes struct {
	// Account is the service account, "" for the project's default.
	Account string
	// Identity means that pods have service accounts of their own: Workload Identity.
	Identity bool
	// Networks means that accelerators can have networks of their own: see NoNetworks.
	Networks bool
}

// NodesOf returns what the nodes of a cluster have in common: a new pool gets the account that
// the others have.
func NodesOf(c *container.Cluster) Nodes {
	n := Nodes{Identity: c.WorkloadIdentityConfig != nil && c.WorkloadIdentityConfig.WorkloadPool != "", Networks: NoNetworks(c) == ""}
	for _, p := range c.NodePools {
		if p.Config != nil && p.Config.ServiceAccount != "" && p.Config.ServiceAccount != "default" {
			n.Account = p.Config.ServiceAccount
			break
		}
	}
	return n
}

// IdentityRole is the role that a Kubernetes service account needs to act as one of Google, with Workload
// Identity.
const IdentityRole = "roles/iam.workloadIdentityUser"

// Planned is what makes a node pool.
type Planned struct {
	Pool *container.NodePool
	// Policy is the resource policy that the pool needs first, nil for none.
	Policy *compute.ResourcePolicy

	accelerator api.Accelerator
	options     Options
}

// Labels of everything in Google Cloud that this program makes.
const (
	LabelKinetic   = "kinetic"
	LabelManagedBy = "app-kubernetes-io-managed-by"
	managedBy      = "kubectl-kinetic"
)

// ResourceLabels returns the labels of everything in Google Cloud that this program makes.
func ResourceLabels() map[string]string {
	return map[string]string{LabelKinetic: "true", LabelManagedBy: managedBy}
}

const (
	// usualMax is how many nodes of single hosts a pool has at most, unless the user says.
	usualMax = 10
	// usualDisk is the size of a node's disk.
	usualDisk = 100
	// longest is how long a node of flex-start lives, at most: 7 days.
	longest = "604800s"
	scope   = "https://www.googleapis.com/auth/cloud-platform"
)

// Plan returns the request for a node pool of an accelerator. It contacts nothing: the same
// input has the same plan. Errors are about the options.
func Plan(a api.Accelerator, o Options) (Planned, error) {
	if err := o.check(a); err != nil {
		return Planned{}, err
	}
	config := &container.NodeConfig{
		MachineType: a.MachineType, DiskType: accelerator.BootDisk(a.MachineType), DiskSizeGb: int64(o.disk()), ServiceAccount: o.Nodes.Account,
		OauthScopes: []string{scope}, Labels: o.Labels, ResourceLabels: ResourceLabels(),
		Gvnic: &container.VirtualNIC{Enabled: true}, Spot: a.Spot,
		GcfsConfig: &container.GcfsConfig{Enabled: true}, // image streaming
		// No secure boot: drivers of accelerators are kernel modules, and not all of them are signed.
		ShieldedInstanceConfig: &container.ShieldedInstanceConfig{EnableIntegrityMonitoring: true},
	}
	if o.Nodes.Identity {
		config.WorkloadMetadataConfig = &container.WorkloadMetadataConfig{Mode: PodMetadata}
	}
	if a.Kind == api.GPU {
		config.Accelerators = []*container.AcceleratorConfig{{AcceleratorType: a.Label, AcceleratorCount: int64(a.ChipsPerHost),
			GpuDriverInstallationConfig: &container.GPUDriverInstallationConfig{GpuDriverVersion: "DEFAULT"}}}
	}
	pool := &container.NodePool{
		Config: config, Locations: o.Zones, Management: &container.NodeManagement{AutoRepair: true, AutoUpgrade: true},
		Autoscaling: autoscaling(a, o), InitialNodeCount: int64(o.initial(len(o.Zones))),
	}
	if a.Spot {
		config.Taints = []*container.NodeTaint{spotTaint()}
	}
	o.capacity(pool)
	if o.Nodes.Networks && len(o.Zones) < 2 {
		withNetworks(pool)
	}
	planned := Planned{Pool: pool, accelerator: a, options: o}
	if a.Kind == api.TPU && a.Hosts > 1 {
		pool.PlacementPolicy = &container.PlacementPolicy{TpuTopology: a.Topology}
		if isIronwood(a) {
			planned.Policy = workloadPolicy(o.Cluster, a.Topology)
		} else {
			pool.PlacementPolicy.Type = "COMPACT"
		}
	}
	if IsRack(a) {
		planned.Policy, pool.PlacementPolicy = workloadPolicy(o.Cluster, rackTopology), &container.PlacementPolicy{}
	}
	if o.Compact {
		pool.PlacementPolicy = &container.PlacementPolicy{Type: "COMPACT"}
	}
	pool.Name = cmp.Or(o.Name, Name(a, o))
	if planned.Policy != nil {
		planned.Policy.Name = policyName(o.Cluster, pool.Name)
		pool.PlacementPolicy.PolicyName = planned.Policy.Name
	}
	return planned, nil
}

// workloadPolicy places machines so that their accelerators have a topology.
func workloadPolicy(c Cluster, topology string) *compute.ResourcePolicy {
	return &compute.ResourcePolicy{Description: PolicyDescription(c), WorkloadPolicy: &compute.ResourcePolicyWorkloadPolicy{Type: "HIGH_THROUGHPUT", AcceleratorTopology: topology}}
}

// A rack of GB200 or GB300 is one NVLink domain of 72 GPUs, 4 of each machine. GKE's autoscaler makes no node of these
// machines without a workload policy that says so (github.com/GoogleCloudPlatform/cluster-autoscaler,
// placement.validateWorkloadPolicy), and Google's cluster toolkit makes this one (examples/gke-a4x, gke-a4x-max-bm).
const (
	rackTopology = "1x72"
	rackNodes    = 18
)

// IsRack reports whether the machines of a pool are in one rack.
func IsRack(a api.Accelerator) bool { return strings.HasPrefix(a.MachineType, "a4x-") }

// isIronwood reports whether slices of several hosts need a workload policy.
func isIronwood(a api.Accelerator) bool { return a.Name == "tpu7x" }

// Name returns the usual name of a pool: its shape, and a hash of what the user has chosen and
// can't change later. Asking for the same pool twice finds the first.
func Name(a api.Accelerator, o Options) string {
	shape := a.Topology
	if a.Kind == api.GPU {
		shape = strconv.Itoa(a.Chips)
	}
	parts := []string{string(a.Kind), a.Name, shape}
	if a.Spot {
		parts = append(parts, "spot")
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %v %q %d", a.MachineType, o.Reservation, o.FlexStart, o.Zones, o.disk())
	if o.Queued {
		fmt.Fprint(hash, " queued")
	}
	if o.Compact {
		fmt.Fprint(hash, " compact")
	}
	for _, key := range keys(o.Labels) {
		fmt.Fprintf(hash, " %q=%q", key, o.Labels[key])
	}
	return strings.Join(append(parts, hex.EncodeToString(hash.Sum(nil))[:4]), "-")
}

func (o Options) disk() int { return cmp.Or(o.DiskGB, usualDisk) }

func (o Options) initial(zones int) int {
	zones = max(1, zones)
	return (o.Min + zones - 1) / zones
}

// Max returns the largest number of nodes that a pool has unless the user says: those of one
// slice if it has several hosts, since a pool is one slice then, and the nodes of one rack.
func Max(a api.Accelerator, least int) int {
	if a.Kind == api.TPU && a.Hosts > 1 {
		return a.Hosts
	}
	if IsRack(a) {
		return rackNodes
	}
	return max(usualMax, least)
}

// raised says that a pool may have more nodes than usual, because it must have that many; nothing if it may not.
func (o Options) raised(a api.Accelerator) Note {
	usual := Max(a, 0)
	if o.Max != 0 || o.Min <= usual {
		return Note{}
	}
	return Note{fmt.Sprintf("--min-nodes %d is more than the usual maximum of %d nodes, so the maximum is %[1]d, too", o.Min, usual), "change it with --max-nodes"}
}

// autoscaling returns the limits of a pool. Those of single hosts are for all zones together.
func autoscaling(a api.Accelerator, o Options) *container.NodePoolAutoscaling {
	limits := Size{o.Min, cmp.Or(o.Max, Max(a, o.Min))}
	if a.Kind == api.TPU && a.Hosts > 1 {
		return sliceAutoscaling(limits)
	}
	return Autoscaling(limits)
}

// capacity sets where the machines come from.
func (o Options) capacity(pool *container.NodePool) {
	switch {
	case o.Reservation != "":
		pool.Config.ReservationAffinity = &container.ReservationAffinity{
			ConsumeReservationType: "SPECIFIC_RESERVATION", Key: reservationKey, Values: []string{o.Reservation}}
	case o.FlexStart:
		pool.Config.FlexStart, pool.Config.MaxRunDuration = true, longest
		pool.Config.ReservationAffinity = &container.ReservationAffinity{ConsumeReservationType: "NO_RESERVATION"}
		pool.Management.AutoRepair = false
		pool.UpgradeSettings = &container.UpgradeSettings{Strategy: "SHORT_LIVED"}
		if o.Queued {
			pool.QueuedProvisioning = &container.QueuedProvisioning{Enabled: true}
		}
	}
}

// spotTaint keeps jobs away from spot nodes that did not ask for them, as node auto-provisioning does in the
// pools that it makes. In other pools, GKE adds no such taint.
func spotTaint() *container.NodeTaint {
	return &container.NodeTaint{Key: api.NodeLabelSpot, Value: "true", Effect: "NO_SCHEDULE"}
}

const reservationKey = "compute.googleapis.com/reservation-name"

// keys returns the keys of labels in order.
func keys(labels map[string]string) []string { return slices.Sorted(maps.Keys(labels)) }
