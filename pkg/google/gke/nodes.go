package gke

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Shape returns the accelerator of a node pool, whoever has made it. It reports false for a pool
// without one, or with one that the catalogue doesn't have. The machine type is that of the
// pool; there is no price if the catalogue has none for that machine.
func Shape(p *container.NodePool) (api.Accelerator, bool) {
	if p.Config == nil {
		return api.Accelerator{}, false
	}
	spot := p.Config.Spot || p.Config.Preemptible
	if len(p.Config.Accelerators) > 0 {
		return gpuShape(p.Config, spot)
	}
	topology := ""
	if p.PlacementPolicy != nil {
		topology = p.PlacementPolicy.TpuTopology
	}
	if lacksTopology(p) {
		return api.Accelerator{}, false // it has several hosts, and only its policy knows how many
	}
	for _, a := range accelerator.Catalogue() {
		if a.MachineType != p.Config.MachineType || a.MachineType == "" {
			continue
		}
		switch {
		case a.Hosts == 1 && topology == "", topology == a.Topology:
			return withSpot(a, spot), true
		case topology != "" && a.Hosts > 1: // a large box, which is not listed
			if box, err := accelerator.Parse(a.Name+"-"+topology, accelerator.Options{Spot: spot, Backend: api.BackendLWS}); err == nil && box.MachineType == a.MachineType {
				return box, true
			}
		}
	}
	return api.Accelerator{}, false
}

// gpuShape finds GPUs by their label and count: several machine types have the same.
func gpuShape(config *container.NodeConfig, spot bool) (api.Accelerator, bool) {
	wanted := config.Accelerators[0]
	for _, a := range accelerator.Catalogue() {
		if a.Kind != api.GPU || a.Label != wanted.AcceleratorType || int64(a.ChipsPerHost) != wanted.AcceleratorCount {
			continue
		}
		a = withSpot(a, spot)
		if a.MachineType != config.MachineType {
			a.MachineType, a.PricePerHour = config.MachineType, nil
		}
		return a, true
	}
	return api.Accelerator{}, false
}

// withSpot returns a shape of the catalogue on spot capacity, with its price there.
func withSpot(a api.Accelerator, spot bool) api.Accelerator {
	if !spot {
		return a
	}
	backend := api.BackendGKE
	if a.Hosts > 1 {
		backend = api.BackendLWS
	}
	other, err := accelerator.Parse(accelerator.Text(a), accelerator.Options{Spot: true, Backend: backend})
	if err != nil || other.MachineType != a.MachineType {
		a.Spot, a.PricePerHour = true, nil
		return a
	}
	return other
}

// NodeLabels returns the labels that GKE gives the nodes of a pool, as far as jobs select them.
func NodeLabels(p *container.NodePool) map[string]string {
	labels := map[string]string{api.NodeLabelPool: p.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}
	if p.Config == nil {
		return labels
	}
	maps.Copy(labels, p.Config.Labels)
	labels[corev1.LabelInstanceTypeStable] = p.Config.MachineType
	if a, ok := Shape(p); ok {
		maps.Copy(labels, a.NodeLabels())
		if a.Arch != "" {
			labels[corev1.LabelArchStable] = a.Arch
		}
	}
	if p.Config.Spot {
		labels[api.NodeLabelSpot] = "true"
	}
	if p.Config.FlexStart {
		labels[api.NodeLabelFlexStart] = "true"
	}
	if r, ok := Reservation(p); ok {
		maps.Copy(labels, r.NodeLabels())
	}
	return labels
}

// lacksTopology reports whether the topology of a pool's slice is only in its resource policy, as in pools of
// tpu7x that gcloud makes with --placement-policy alone.
func lacksTopology(p *container.NodePool) bool {
	return p.Config != nil && strings.HasPrefix(p.Config.MachineType, "tpu7x-") && p.PlacementPolicy != nil &&
		p.PlacementPolicy.PolicyName != "" && p.PlacementPolicy.TpuTopology == ""
}

// Reservation returns the reservation that a pool uses, if it does.
func Reservation(p *container.NodePool) (api.Reservation, bool) {
	affinity := p.Config.ReservationAffinity
	if affinity == nil || affinity.Key != reservationKey || len(affinity.Values) == 0 {
		return api.Reservation{}, false
	}
	r, err := api.ParseReservation(affinity.Values[0])
	return r, err == nil
}

// IsQueued reports whether GKE makes nodes of a pool only for jobs whose queue asks it to.
func IsQueued(p *container.NodePool) bool {
	return p.QueuedProvisioning != nil && p.QueuedProvisioning.Enabled
}

// Sharing says how several pods share each GPU of a pool, such as "MIG 1g.5gb" or "time-sharing by 4"; "" for
// GPUs of which each belongs to one pod.
func Sharing(p *container.NodePool) string {
	if p.Config == nil || len(p.Config.Accelerators) == 0 {
		return ""
	}
	var ways []string
	gpu := p.Config.Accelerators[0]
	if gpu.GpuPartitionSize != "" {
		ways = append(ways, "MIG "+gpu.GpuPartitionSize)
	}
	if s := gpu.GpuSharingConfig; s != nil && s.MaxSharedClientsPerGpu > 1 {
		way := "time-sharing"
		if s.GpuSharingStrategy == "MPS" {
			way = "MPS"
		}
		ways = append(ways, fmt.Sprintf("%s by %d", way, s.MaxSharedClientsPerGpu))
	}
	return strings.Join(ways, ", ")
}

// IsSpotOnly reports whether only pods that ask for spot nodes run in a pool.
func IsSpotOnly(p *container.NodePool) bool {
	return p.Config != nil && slices.ContainsFunc(p.Config.Taints, func(t *container.NodeTaint) bool {
		return t.Key == api.NodeLabelSpot && t.Effect != "PREFER_NO_SCHEDULE"
	})
}

// NodeTaints returns the taints that the nodes of a pool have: those of the pool, the one with which GKE keeps
// pods without an accelerator away, and the one of nodes that queues ask for.
func NodeTaints(p *container.NodePool) []corev1.Taint {
	var taints []corev1.Taint
	if a, ok := Shape(p); ok {
		taints = append(taints, corev1.Taint{Key: a.Resource, Value: "present", Effect: corev1.TaintEffectNoSchedule})
	}
	effects := map[string]corev1.TaintEffect{"NO_SCHEDULE": corev1.TaintEffectNoSchedule,
		"PREFER_NO_SCHEDULE": corev1.TaintEffectPreferNoSchedule, "NO_EXECUTE": corev1.TaintEffectNoExecute}
	if p.Config == nil {
		return taints
	}
	if IsQueued(p) {
		taints = append(taints, corev1.Taint{Key: api.NodeLabelQueued, Value: "true", Effect: corev1.TaintEffectNoSchedule})
	}
	for _, t := range p.Config.Taints {
		taints = append(taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: effects[t.Effect]})
	}
	return taints
}
