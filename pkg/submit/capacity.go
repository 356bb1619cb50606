package submit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// maxFlexStart is how long a machine of the Dynamic Workload Scheduler lasts.
const maxFlexStart = 7 * 24 * time.Hour

// chooseCapacity returns the one kind of capacity that was requested. Autopilot's compute
// classes are not one: they can be combined with any.
func chooseCapacity(r api.Request, acc api.Accelerator) (api.Capacity, error) {
	var named []api.Capacity
	var flags []string
	name := func(used bool, c api.Capacity, flag string) {
		if used {
			named, flags = append(named, c), append(flags, flag)
		}
	}
	name(r.ComputeClass != "" && !api.IsBuiltInClass(r.ComputeClass), api.Capacity{Kind: api.CapacityClass, Name: r.ComputeClass}, "--compute-class")
	name(r.FlexStart, api.Capacity{Kind: api.CapacityFlexStart}, "--flex-start")
	name(r.Reservation != "", api.Capacity{Kind: api.CapacityReservation, Name: r.Reservation}, "--reservation")
	name(acc.Spot, api.Capacity{Kind: api.CapacitySpot}, "spot capacity (--spot)")
	var c api.Capacity
	if len(named) > 0 {
		c = named[0]
	}
	switch {
	case !accelerator.TakesComputeClass(acc.Kind, r.ComputeClass) && acc.Kind == api.CPU:
		return c, fmt.Errorf("--compute-class %s is for jobs with accelerators: choose one with --accelerator", r.ComputeClass)
	case !accelerator.TakesComputeClass(acc.Kind, r.ComputeClass):
		return c, fmt.Errorf("--compute-class %s has no accelerators, but --accelerator is %s: Autopilot's class for them is %s", r.ComputeClass, r.AcceleratorText, api.AcceleratorClass)
	case len(named) > 1 && c.Kind == api.CapacityClass:
		return c, fmt.Errorf("%s cannot be combined, because the ComputeClass decides which capacity is used: use one of them", strings.Join(flags, " and "))
	case len(named) > 1:
		return c, fmt.Errorf("%s cannot be combined: use one of them", strings.Join(flags, " and "))
	case r.FlexStart && acc.Kind == api.CPU:
		return c, errors.New("--flex-start is for accelerators: choose one with --accelerator, or omit it")
	case r.FlexStart && r.MaxRuntime > maxFlexStart:
		return c, fmt.Errorf("--max-runtime %s cannot be combined with --flex-start, whose machines last at most 7 days (168h)", r.MaxRuntime)
	case r.FlexStart && accelerator.OnlyReserved(acc):
		return c, fmt.Errorf("--flex-start cannot be combined with --accelerator %s, which comes from reservations alone: use --reservation", r.AcceleratorText)
	case r.FlexStart && !accelerator.HasFlexStart(acc):
		return c, fmt.Errorf("--flex-start cannot be combined with --accelerator %s: GKE has no flex-start for %s", r.AcceleratorText, acc.Name)
	}
	return c, nil
}
