package submit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// What a CPU job requests, so that its pod is not the first to be evicted.
const (
	defaultCPU    = "1"
	defaultMemory = "2Gi"
)

// maxFlexStart is how long a machine of the Dynamic Workload Scheduler lasts.
const maxFlexStart = 7 * 24 * time.Hour

// fit returns what the pods of a job run on, with all defaults filled in, or why no machine does what the flags ask for.
// A local job runs on this machine.
func fit(r api.Request) (api.Placement, error) {
	if r.Backend == api.BackendLocal {
		r.Accelerator, r.AcceleratorText = accelerator.CPU(), string(api.CPU)
		r.Hosts, r.Slices, r.NodePools, r.Image = 1, 1, "", ""
		return r.Placement, nil
	}
	p, acc := r.Placement, r.Accelerator
	var err error
	if p.Capacity, err = chooseCapacity(r); err != nil {
		return p, err
	}
	if err := cmp.Or(checkSize(r, p.Capacity), checkPathways(r), checkHosts(r), checkNetwork(r), checkNodePools(r)); err != nil {
		return p, err
	}
	if api.IsBuiltInClass(r.ComputeClass) {
		p.AutopilotClass = r.ComputeClass
	}
	p.Slices = max(r.Slices, 1)
	p.Hosts = p.Slices * max(r.Hosts, acc.Hosts)
	if r.Backend == api.BackendPathways { // whose workers are no hosts of the call
		p.Hosts = 1
	}
	if p.Backend == "" && p.Hosts > 1 {
		p.Backend = api.BackendLWS
	}
	p.Backend = cmp.Or(p.Backend, api.BackendGKE)
	if !isSlice(acc) {
		p.NodePools = ""
	}
	switch share := accelerator.Share(acc); {
	case acc.Kind == api.CPU:
		p.CPU, p.Memory = cmp.Or(p.CPU, defaultCPU), cmp.Or(p.Memory, defaultMemory)
	case p.Capacity.Kind != api.CapacityClass:
		p.CPU, p.Memory = cmp.Or(p.CPU, strconv.Itoa(share.CPUs)), cmp.Or(p.Memory, strconv.Itoa(share.GiB)+"Gi")
	}
	return p, nil
}

// chooseCapacity returns the one kind of capacity that was requested. Autopilot's compute
// classes are not one: they can be combined with any.
func chooseCapacity(r api.Request) (api.Capacity, error) {
	acc := r.Accelerator
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

// checkSize rejects hosts that request more than any machine with their chips has. A
// ComputeClass has machines that only it knows.
func checkSize(r api.Request, capacity api.Capacity) error {
	most := accelerator.Largest(r.Accelerator)
	if most.CPUs == 0 || capacity.Kind == api.CapacityClass {
		return nil
	}
	least := accelerator.Size{}                                 // of what runs beside the call
	if r.Backend == api.BackendPathways && r.OverlayDir == "" { // an overlay may change it
		least = accelerator.Size{CPUs: api.PathwaysCPUs, GiB: api.PathwaysGiB}
	}
	for _, ask := range []struct {
		flag, value, unit string
		has, beside       int
	}{
		{"--cpu", r.CPU, "", most.CPUs, least.CPUs},
		{"--memory", r.Memory, "Gi", most.GiB, least.GiB},
	} {
		if ask.value == "" {
			continue
		}
		text := func(n int) string { return strconv.Itoa(n) + ask.unit }
		if asked, has := resource.MustParse(ask.value), resource.MustParse(text(ask.has-ask.beside)); asked.Cmp(has) > 0 {
			err := fmt.Errorf("%s %s: the largest machine for a host of %s (%s) has %s", ask.flag, ask.value, accelerator.Text(r.Accelerator), most.Machine, text(ask.has))
			if ask.beside > 0 {
				err = fmt.Errorf("%w, of which the Pathways runtime requests %s", err, text(ask.beside))
			}
			return err
		}
	}
	return nil
}

// checkNodePools rejects a placement that can't be satisfied.
func checkNodePools(r api.Request) error {
	switch {
	case r.NodePools == api.NodePoolsExclusive && !isSlice(r.Accelerator):
		return fmt.Errorf("--slice-node-pool %s: only multi-host TPU slices have a node pool of their own, but --accelerator is %s: omit it", r.NodePools, accelerator.Text(r.Accelerator))
	case r.NodePools == api.NodePoolsShared && r.Slices > 1:
		return fmt.Errorf("--slice-node-pool %s cannot be combined with --slices %d: the hosts of each slice must be in one node pool", r.NodePools, r.Slices)
	}
	return nil
}

func isSlice(acc api.Accelerator) bool { return acc.Kind == api.TPU && acc.Hosts > 1 }

// checkHosts rejects numbers of hosts and slices that the hardware or the backend doesn't
// support.
func checkHosts(r api.Request) error {
	acc := r.Accelerator
	all := max(r.Hosts, acc.Hosts) * max(r.Slices, 1)
	switch {
	case acc.Kind == api.TPU && r.Hosts == acc.Hosts:
		return fmt.Errorf("--hosts %d: a TPU's topology already determines its hosts (%s): omit it", r.Hosts, accelerator.Describe(acc))
	case acc.Kind == api.TPU && r.Hosts > 0:
		return fmt.Errorf("--hosts %d: a TPU's topology determines its hosts (%s): %s", r.Hosts, accelerator.Describe(acc), otherHosts(r))
	case acc.Kind == api.TPU && r.Processes != "" && r.Processes != api.ProcessesAuto && r.Processes != "1":
		return fmt.Errorf("--processes-per-host %s: one process uses all TPU chips of a host: omit it", r.Processes)
	}
	if r.Backend == api.BackendPathways { // whose one process sees all of them
		return nil
	}
	if err := checkSlices(r); err != nil || all == 1 {
		return err
	}
	return checkSeveral(r, all)
}

// otherHosts says how a TPU can have another number of hosts.
func otherHosts(r api.Request) string {
	acc := r.Accelerator
	if several, found := accelerator.OnMoreHosts(acc.Label, acc.Topology, acc.ChipsPerHost); found && several.Hosts == r.Hosts {
		return fmt.Sprintf("omit it and use --backend lws, which has %d for %s", r.Hosts, r.AcceleratorText)
	}
	advice := "omit it, or choose another with --accelerator"
	if other := accelerator.WithHosts(acc, r.Hosts); other.Hosts != acc.Hosts {
		advice = fmt.Sprintf("choose another with --accelerator, such as %s, which has %d", accelerator.Text(other), other.Hosts)
	}
	if slices := r.Hosts / acc.Hosts; slices*acc.Hosts == r.Hosts && r.Backend != api.BackendGKE && r.Backend != api.BackendPathways && accelerator.HasMultislice(acc) {
		advice += fmt.Sprintf(", or take %d of these slices with --slices %d", slices, slices)
	}
	return advice
}

// checkSlices rejects slices that can't be joined.
func checkSlices(r api.Request) error {
	acc := r.Accelerator
	most, joined := api.MaxHosts/acc.Hosts, accelerator.WithHosts(acc, 2)
	switch {
	case r.Slices < 2:
		return nil
	case acc.Kind != api.TPU:
		return fmt.Errorf("--slices %d: only TPUs come in slices: for several hosts of %s, use --hosts", r.Slices, acc.Name)
	case acc.Hosts == 1 && accelerator.HasMultislice(joined):
		return fmt.Errorf("--slices %d: single-host slices can't be joined (%s): choose a larger topology with --accelerator, such as %s", r.Slices, accelerator.Describe(acc), accelerator.Text(joined))
	case !accelerator.HasMultislice(acc):
		return fmt.Errorf("--slices %d: slices of TPU %s can't be joined: choose a newer one with --accelerator", r.Slices, acc.Name)
	case r.Backend == api.BackendGKE:
		return fmt.Errorf("--slices %d cannot be combined with --backend gke: use --backend lws", r.Slices)
	case r.Slices > most:
		return fmt.Errorf("--slices %d: a job can have at most %d hosts, and each slice has %d: use 1 to %d", r.Slices, api.MaxHosts, acc.Hosts, most)
	}
	return nil
}

// checkSeveral rejects what makes no sense on several hosts.
func checkSeveral(r api.Request, hosts int) error {
	switch {
	case r.Map != "":
		return fmt.Errorf("--map makes each call on one host, but --accelerator %s has %d hosts: choose a single-host one", r.AcceleratorText, hosts)
	case r.Debug:
		return fmt.Errorf("--debug needs one host, not %d: use a smaller --accelerator, or omit --hosts and --slices", hosts)
	case r.Backend == api.BackendGKE && r.Retries > 0:
		return fmt.Errorf("--retries %d cannot be combined with --backend gke on several hosts: an Indexed Job fails when it loses one; use --backend lws", r.Retries)
	case r.Backend == api.BackendGKE && r.RetryOn == api.RetryOnError:
		return errors.New("--retry-on error cannot be combined with --backend gke on several hosts: an Indexed Job fails when it loses one; use --backend lws")
	case r.Backend == api.BackendGKE && r.MaxDisruptions > 0:
		return fmt.Errorf("--max-disruptions %d cannot be combined with --backend gke on several hosts: an Indexed Job fails when it loses one; use --backend lws", r.MaxDisruptions)
	}
	return nil
}

// checkNetwork rejects a network that the hosts of a job can't have.
func checkNetwork(r api.Request) error {
	if r.Network == "" || r.Network == api.NetworkTCP {
		return nil
	}
	switch names := accelerator.NamesWith(r.Network); {
	case accelerator.NetworkOf(r.Accelerator.MachineType) != r.Network:
		return fmt.Errorf("--network %s: %s has no such network: omit it, or choose an --accelerator that has: %s", r.Network, accelerator.Text(r.Accelerator), strings.Join(names, ", "))
	case r.Hosts < 2:
		return fmt.Errorf("--network %s: a single host needs no network between hosts: omit it, or request more hosts with --hosts", r.Network)
	case r.Restricted:
		return fmt.Errorf("--network %s cannot be combined with --restricted: pods on this network use host directories", r.Network)
	}
	return nil
}

// hardwareWarnings warns about hardware flags that don't have their apparent effect.
func hardwareWarnings(r api.Request, s api.Spec) []string {
	if s.Backend == api.BackendLocal {
		return nil
	}
	warnings := accelerator.CapacityDoubts(s.Accelerator, s.Capacity.Kind, s.Machines(), r.Queue != "")
	warnings = slices.Concat(warnings, priceDoubts(r, s), pathwaysDoubts(s))
	if waitsForClaim(s, s.Network) {
		warnings = append(warnings, fmt.Sprintf("--network rdma with --queue %s: from v0.18 on, Kueue never admits a job that claims all RDMA cards of its nodes, so the job may wait for ever: omit --network for plain TCP, or --queue", s.Queue))
	}
	var n int
	if _, err := fmt.Sscanf(strings.ToLower(strings.TrimSpace(s.AcceleratorText)), "cpu:%d", &n); err == nil && n > 0 && r.CPU == "" {
		warnings = append(warnings, fmt.Sprintf("--accelerator %s: the number has no effect; request %[2]d CPUs with --cpu %[2]d", s.AcceleratorText, n))
	}
	if s.Accelerator.Arch != "" && s.Capacity.Kind != api.CapacityClass && isOwn(r.Image) {
		warnings = append(warnings, fmt.Sprintf("the machines of %s have %s processors: the image must be built for linux/%s", s.Accelerator.Name, s.Accelerator.Arch, s.Accelerator.Arch))
	}
	if r.NodePools == api.NodePoolsShared && !isSlice(s.Accelerator) {
		warnings = append(warnings, fmt.Sprintf("--slice-node-pool %s has no effect with --accelerator %s: it is for multi-host TPU slices",
			r.NodePools, accelerator.Text(s.Accelerator)))
	}
	if s.Hosts > 1 && s.Accelerator.Kind == api.TPU {
		for _, e := range s.Env {
			if slices.Contains(groupVariables(), e.Name) {
				warnings = append(warnings, fmt.Sprintf("--env %s: all %d hosts get this value, and the cluster then sets none of the variables with which TPU hosts find each other", e.Name, s.Hosts))
			}
		}
	}
	return warnings
}
