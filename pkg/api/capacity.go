package api

import (
	"errors"
	"slices"
	"strings"
)

// Placement says whether the hosts of a TPU slice have a node pool to themselves.
type Placement string

// The placements.
const (
	PlacementExclusive Placement = "exclusive"
	PlacementShared    Placement = "shared"
)

// AcceleratorClass is the compute class of Autopilot that has accelerators. Its pods say
// themselves which.
const AcceleratorClass = "Accelerator"

// BuiltInClasses are the compute classes that Autopilot comes with. Unlike a ComputeClass of
// the cluster's own they leave the choice of the accelerator, and of spot capacity or a
// reservation, to the pod.
var BuiltInClasses = []string{AcceleratorClass, "Balanced", "Performance", "Scale-Out"}

// IsBuiltInClass reports whether a compute class is one of BuiltInClasses.
func IsBuiltInClass(name string) bool { return slices.Contains(BuiltInClasses, name) }

// ClassChooses reports whether a ComputeClass chooses the machines of a job: then its pods
// select nothing else.
func (s Spec) ClassChooses() bool { return s.ComputeClass != "" && !IsBuiltInClass(s.ComputeClass) }

// Reservation is a reservation of Compute Engine, or a part of it.
type Reservation struct {
	// Project is empty for the cluster's own.
	Project, Name string
	// Block and SubBlock are empty for all of them.
	Block, SubBlock string
}

// ParseReservation reads NAME or projects/PROJECT/reservations/NAME, to which
// /reservationBlocks/BLOCK and then /reservationSubBlocks/SUBBLOCK may be added.
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
	wrong := errors.New("want NAME, or projects/PROJECT/reservations/NAME with /reservationBlocks/BLOCK and /reservationSubBlocks/SUBBLOCK after it as needed")
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
