package api

import (
	"errors"
	"slices"
	"strings"
)

// Capacity is where the machines of a job come from. GKE does not combine two kinds.
type Capacity struct {
	Kind CapacityKind
	// Name is the name of the ComputeClass, or the reservation in the form that
	// ParseReservation reads; empty for other kinds.
	Name string
}

// CapacityKind is a way to get machines. The zero value is on demand.
type CapacityKind string

// The kinds of capacity.
const (
	CapacityOnDemand    CapacityKind = ""
	CapacitySpot        CapacityKind = "spot" // can be taken back at any time
	CapacityReservation CapacityKind = "reservation"
	CapacityFlexStart   CapacityKind = "flex-start" // from the Dynamic Workload Scheduler
	CapacityClass       CapacityKind = "class"      // what one of the cluster's ComputeClasses chooses
)

// Words returns the kind as lists show it.
func (k CapacityKind) Words() string {
	if k == CapacityOnDemand {
		return "on-demand"
	}
	return string(k)
}

// AcceleratorClass is the compute class of Autopilot that has accelerators. Its pods name
// the accelerator.
const AcceleratorClass = "Accelerator"

// BuiltInClasses are the compute classes that Autopilot comes with. Unlike the cluster's
// own ComputeClasses, they leave the choice of the accelerator, and of spot capacity or a
// reservation, to the pod.
func BuiltInClasses() []string {
	return []string{AcceleratorClass, "Balanced", "Performance", "Scale-Out"}
}

// IsBuiltInClass reports whether a compute class is one of BuiltInClasses.
func IsBuiltInClass(name string) bool { return slices.Contains(BuiltInClasses(), name) }

// Reservation is a reservation of Compute Engine, or a part of it.
type Reservation struct {
	// Project is empty for the cluster's own project.
	Project, Name string
	// Block and SubBlock are empty for the whole reservation or block.
	Block, SubBlock string
}

// ParseReservation reads NAME or projects/PROJECT/reservations/NAME, optionally followed by
// /reservationBlocks/BLOCK and then /reservationSubBlocks/SUBBLOCK.
func ParseReservation(text string) (Reservation, error) {
	parts := strings.Split(text, "/")
	if len(parts) == 1 {
		return Reservation{Name: text}, nil
	}
	var r Reservation
	fields := []struct {
		collection string
		value      *string
	}{{"projects", &r.Project}, {"reservations", &r.Name}, {"reservationBlocks", &r.Block}, {"reservationSubBlocks", &r.SubBlock}}
	wrong := errors.New("expected NAME or projects/PROJECT/reservations/NAME, optionally with /reservationBlocks/BLOCK and /reservationSubBlocks/SUBBLOCK appended")
	if len(parts) < 4 || len(parts) > 2*len(fields) || len(parts)%2 != 0 {
		return r, wrong
	}
	for i, f := range fields[:len(parts)/2] {
		if parts[2*i] != f.collection || parts[2*i+1] == "" {
			return r, wrong
		}
		*f.value = parts[2*i+1]
	}
	return r, nil
}
