// Package availability reads what a project may use now: which zones have which machine types, and the
// quotas of a region. Neither says whether a machine is free: only Google Cloud knows that, when it is
// asked for one.
package availability

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/api/compute/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/target"
)

// Quota is a quota of a region.
type Quota struct {
	Metric string  `json:"metric"`
	Limit  float64 `json:"limit"`
	Used   float64 `json:"used"`
}

// Free returns how much of the quota is left.
func (q Quota) Free() float64 { return max(0, q.Limit-q.Used) }

// Availability is what a project may use.
type Availability struct {
	zones  map[string][]string // by machine type
	quotas map[string]Quota    // by metric
}

// Zones lists the zones that have a machine type, sorted.
func (a *Availability) Zones(machine string) []string { return a.zones[machine] }

// Quota returns a quota of the region, and reports whether the region lists it.
func (a *Availability) Quota(metric string) (q Quota, listed bool) {
	q, listed = a.quotas[metric]
	return q, listed
}

// Read asks Compute Engine, both at the same time. machines are the machine types that matter.
func Read(ctx context.Context, access *gcp.Access, project, region string, machines []string) (*Availability, error) {
	service, err := newService(ctx, access)
	if err != nil {
		return nil, err
	}
	var a Availability
	var both errgroup.Group
	both.Go(func() (err error) {
		a.zones, err = Zones(ctx, access, project, machines)
		return err
	})
	both.Go(func() (err error) {
		a.quotas, err = quotas(ctx, service, project, region)
		return access.Explain(err, project, "reading the quotas of "+region)
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	return &a, nil
}

func newService(ctx context.Context, access *gcp.Access) (*compute.Service, error) {
	service, err := compute.NewService(ctx, access.Options(gcp.Compute)...)
	if err != nil {
		return nil, fmt.Errorf("making a client for Compute Engine: %w", err)
	}
	return service, nil
}

// Zones returns the zones of a project that have each machine type, sorted. The list of a type that no
// zone has is empty, not nil.
func Zones(ctx context.Context, access *gcp.Access, project string, machines []string) (map[string][]string, error) {
	service, err := newService(ctx, access)
	if err != nil {
		return nil, err
	}
	var names []string
	all := map[string][]string{}
	for _, machine := range machines {
		names = append(names, fmt.Sprintf("(name = %q)", machine))
		all[machine] = []string{}
	}
	list := service.MachineTypes.AggregatedList(project).Filter(strings.Join(names, " OR "))
	err = list.Pages(ctx, func(page *compute.MachineTypeAggregatedList) error {
		for scope, found := range page.Items {
			for _, m := range found.MachineTypes {
				all[m.Name] = append(all[m.Name], strings.TrimPrefix(scope, "zones/"))
			}
		}
		return nil
	})
	if err != nil {
		return nil, access.Explain(err, project, "asking which zones have which machines")
	}
	for _, of := range all {
		slices.Sort(of)
	}
	return all, nil
}

// Machines lists the machine types of a zone, or of the first zone of a region.
func Machines(ctx context.Context, access *gcp.Access, project, location string) ([]string, error) {
	service, err := newService(ctx, access)
	if err != nil {
		return nil, err
	}
	zone := location
	if target.Region(location) == location {
		region, err := service.Regions.Get(project, location).Context(ctx).Do()
		if err != nil || len(region.Zones) == 0 {
			return nil, access.Explain(err, project, "reading the zones of "+location)
		}
		zone = path.Base(region.Zones[0])
	}
	var names []string
	err = service.MachineTypes.List(project, zone).Pages(ctx, func(page *compute.MachineTypeList) error {
		for _, m := range page.Items {
			names = append(names, m.Name)
		}
		return nil
	})
	return names, access.Explain(err, project, "listing the machine types of "+zone)
}

func quotas(ctx context.Context, service *compute.Service, project, region string) (map[string]Quota, error) {
	answer, err := service.Regions.Get(project, region).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	all := map[string]Quota{}
	for _, q := range answer.Quotas {
		all[q.Metric] = Quota{q.Metric, q.Limit, q.Usage}
	}
	return all, nil
}
