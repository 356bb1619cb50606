package api

import "strconv"

// Resources of nodes that have accelerators: how many chips a container gets.
const (
	ResourceGPU = "nvidia.com/gpu"
	ResourceTPU = "google.com/tpu"
)

// Labels of nodes in GKE that jobs select: what a node pool's nodes get is what manifests ask for.
const (
	NodeLabelPool               = "cloud.google.com/gke-nodepool"
	NodeLabelGPU                = "cloud.google.com/gke-accelerator"
	NodeLabelTPU                = "cloud.google.com/gke-tpu-accelerator"
	NodeLabelTopology           = "cloud.google.com/gke-tpu-topology"
	NodeLabelChips              = "cloud.google.com/gke-accelerator-count"
	NodeLabelSpot               = "cloud.google.com/gke-spot"
	NodeLabelFlexStart          = "cloud.google.com/gke-flex-start"
	NodeLabelQueued             = "cloud.google.com/gke-queued"
	NodeLabelReservation        = "cloud.google.com/reservation-name"
	NodeLabelReservationProject = "cloud.google.com/reservation-project"
	NodeLabelReservationBlock   = "cloud.google.com/reservation-blocks"
	NodeLabelReservationPart    = "cloud.google.com/reservation-subblocks"
	NodeLabelComputeClass       = "cloud.google.com/compute-class"
)

// NodeLabels returns the labels of the nodes that have the accelerator, none for cpu.
func (a Accelerator) NodeLabels() map[string]string {
	switch a.Kind {
	case GPU:
		return map[string]string{NodeLabelGPU: a.Label}
	case TPU:
		return map[string]string{NodeLabelTPU: a.Label, NodeLabelTopology: a.Topology, NodeLabelChips: strconv.Itoa(a.ChipsPerHost)}
	}
	return nil
}

// NodeLabels returns the labels of the nodes that are in a reservation.
func (r Reservation) NodeLabels() map[string]string {
	labels := map[string]string{}
	for key, value := range map[string]string{
		NodeLabelReservation: r.Name, NodeLabelReservationProject: r.Project,
		NodeLabelReservationBlock: r.Block, NodeLabelReservationPart: r.SubBlock,
	} {
		if value != "" {
			labels[key] = value
		}
	}
	return labels
}
