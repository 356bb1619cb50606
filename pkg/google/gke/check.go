package gke

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const (
	namePattern = `^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`
	zonePattern = `^[a-z]+-[a-z]+[0-9]+-[a-z]+([0-9]+[a-z]+)?$` // us-central1-a, us-central1-ai1a
)

// CheckName returns an error for a name that a node pool can't have.
func CheckName(name string) error {
	if !lazyregexp.Of(namePattern).MatchString(name) {
		return errors.New("expected at most 40 lower-case letters, digits and hyphens, beginning with a letter and ending with a letter or digit")
	}
	return nil
}

// check returns what is wrong with the options of a pool, by the names of their flags.
func (o Options) check(a api.Accelerator) error {
	switch {
	case a.Kind == api.CPU:
		return errors.New("cpu jobs run on the nodes that every cluster has; name a GPU or a TPU, such as l4 or v6e-8")
	case accelerator.IsBareMetal(a):
		return fmt.Errorf("%s is bare metal, with networks that a cluster needs first: make its pool as Google's Cluster Toolkit does (examples/gke-a4x-max-bm)", a.MachineType)
	}
	if o.Name != "" {
		if err := CheckName(o.Name); err != nil {
			return fmt.Errorf("--name %s: %w", o.Name, err)
		}
	}
	if o.DiskGB != 0 && (o.DiskGB < 10 || o.DiskGB > 65536) {
		return fmt.Errorf("--disk-size %d: expected 10 to 65536 GB", o.DiskGB)
	}
	return cmp.Or(o.checkCapacity(a), o.checkSize(a), o.checkZones(a), checkLabels(o.Labels))
}

func (o Options) checkCapacity(a api.Accelerator) error {
	switch {
	case a.Spot && o.Reservation != "":
		return errors.New("--spot and --reservation: reserved machines are not spot capacity; use one of the two")
	case o.FlexStart && a.Spot:
		return errors.New("--flex-start and --spot: use one of the two")
	case o.FlexStart && o.Reservation != "":
		return errors.New("--flex-start and --reservation: use one of the two")
	case o.Queued && !o.FlexStart:
		return errors.New("--queued: it needs --flex-start, whose machines the queue asks for")
	case o.Queued && o.Compact:
		return errors.New("--queued and --compact: GKE does not combine them; use one of the two")
	case o.Compact && a.Kind == api.TPU:
		return errors.New("--compact: the hosts of a TPU slice are placed by its topology; omit it")
	case o.Compact && IsRack(a):
		return fmt.Errorf("--compact: the machines of %s are in one rack anyway; omit it", a.Name)
	case o.Compact && !accelerator.HasCompactPlacement(a):
		return fmt.Errorf("--compact: GKE has no compact placement for the machines of %s (%s); omit it", a.Name, a.MachineType)
	case accelerator.OnlyReserved(a) && (a.Spot || o.FlexStart):
		return fmt.Errorf("%s comes from reservations alone; instead of spot or flex-start, use --reservation of pool add", a.Name)
	case o.FlexStart && !accelerator.HasFlexStart(a):
		return fmt.Errorf("--flex-start: %s is not available with flex-start; the nearest that is: v5e", a.Name)
	}
	if flags := accelerator.NotOnDemand(a); flags != nil && !a.Spot && !o.FlexStart && o.Reservation == "" {
		return fmt.Errorf("no %s is sold on demand, so the pool would never get a node: use %s", a.MachineType, strings.Join(ofPoolAdd(flags), " or "))
	}
	if o.Reservation != "" {
		if _, err := api.ParseReservation(o.Reservation); err != nil {
			return fmt.Errorf("--reservation %s: %w", o.Reservation, err)
		}
	}
	return nil
}

// ofPoolAdd says of flags that they are those of `pool add`. But `up` has --spot, too.
func ofPoolAdd(flags []string) []string {
	var all []string
	for _, flag := range flags {
		if flag != "--spot" {
			flag += " of pool add"
		}
		all = append(all, flag)
	}
	return all
}

func (o Options) checkSize(a api.Accelerator) error {
	switch {
	case o.Min < 0:
		return fmt.Errorf("--min-nodes %d: expected 0 or more", o.Min)
	case o.Max < 0:
		return fmt.Errorf("--max-nodes %d: expected 1 or more", o.Max)
	case o.Max != 0 && o.Min > o.Max:
		return fmt.Errorf("--min-nodes %d is more than --max-nodes %d", o.Min, o.Max)
	case o.FlexStart && o.Min > 0:
		return fmt.Errorf("--min-nodes %d: a pool with --flex-start begins without nodes; use 0", o.Min)
	}
	return CheckSlice(a, o.Min, o.Max)
}

// CheckSlice returns an error for limits that a slice of several hosts can't have: its pool has
// all of its nodes or none; or that a rack can't have. Max is 0 for the usual number.
func CheckSlice(a api.Accelerator, least, most int) error {
	if IsRack(a) && max(least, most) > rackNodes {
		flag, n := "--max-nodes", most
		if least > rackNodes {
			flag, n = "--min-nodes", least
		}
		return fmt.Errorf("%s %d: a pool of %s is one rack, which has %d machines; use at most that, and another pool for more", flag, n, a.Name, rackNodes)
	}
	if a.Kind != api.TPU || a.Hosts < 2 {
		return nil
	}
	if least != 0 && least != a.Hosts {
		return fmt.Errorf("--min-nodes %d: a pool of %s %s is one slice of %d hosts; use 0 or %d", least, a.Name, a.Topology, a.Hosts, a.Hosts)
	}
	if most != 0 && most != a.Hosts {
		return fmt.Errorf("--max-nodes %d: a pool of %s %s is one slice of %d hosts; use %d, and add a pool with another --name for a second slice", most, a.Name, a.Topology, a.Hosts, a.Hosts)
	}
	return nil
}

func (o Options) checkZones(a api.Accelerator) error {
	for i, zone := range o.Zones {
		if slices.Contains(o.Zones[:i], zone) {
			return fmt.Errorf("--zones %s: name %s once", strings.Join(o.Zones, ","), zone)
		}
		if !lazyregexp.Of(zonePattern).MatchString(zone) {
			return fmt.Errorf("--zones %s: expected zones such as us-central1-a", zone)
		}
		if config.Region(zone) != config.Region(o.Zones[0]) {
			return fmt.Errorf("--zones %s: a node pool is in one region, and %s is in another", strings.Join(o.Zones, ","), zone)
		}
	}
	if a.Kind == api.TPU && a.Hosts > 1 && len(o.Zones) > 1 {
		return fmt.Errorf("--zones %s: the %d hosts of a slice are in one zone; name one", strings.Join(o.Zones, ","), a.Hosts)
	}
	if IsRack(a) && len(o.Zones) > 1 {
		return fmt.Errorf("--zones %s: the machines of a rack are in one zone; name one", strings.Join(o.Zones, ","))
	}
	if o.Compact && len(o.Zones) > 1 {
		return fmt.Errorf("--zones %s: with --compact, the machines are in one zone; name one", strings.Join(o.Zones, ","))
	}
	return nil
}

func checkLabels(labels map[string]string) error {
	// reserved are the ends of the domains of labels that GKE keeps for itself.
	reserved := []string{"kubernetes.io", "k8s.io", "cloud.google.com"}
	for _, key := range keys(labels) {
		value := labels[key]
		if wrong := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(wrong) > 0 {
			return fmt.Errorf("--labels %s=%s: %s", key, value, wrong[0])
		}
		domain, _, _ := strings.Cut(key, "/")
		for _, end := range reserved {
			if strings.Contains(key, "/") && (domain == end || strings.HasSuffix(domain, "."+end)) {
				return fmt.Errorf("--labels %s=%s: labels of %s belong to Kubernetes and GKE; use another name", key, value, end)
			}
		}
	}
	return nil
}
