package gke

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/api/compute/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// Machine is a machine that a zone may have.
type Machine struct {
	// Type is its type, such as g2-standard-4.
	Type string
	// GPU is the type of the GPUs that are attached to it, such as nvidia-tesla-t4; "" for machines without,
	// and for those that have theirs by their type.
	GPU string
}

// MachineOf returns the machine of a host of an accelerator. N1 machines are in nearly every zone, and the GPUs
// for them in few.
func MachineOf(a api.Accelerator) Machine {
	m := Machine{Type: a.MachineType}
	if a.Kind == api.GPU && strings.HasPrefix(a.MachineType, "n1-") {
		m.GPU = a.Label
	}
	return m
}

// Quota is a quota of a region, or of the project.
type Quota struct {
	Metric string  `json:"metric"`
	Limit  float64 `json:"limit"`
	Used   float64 `json:"used"`
}

// Free returns how much of the quota is left.
func (q Quota) Free() float64 { return max(0, q.Limit-q.Used) }

// Availability is what a project may use.
type Availability struct {
	zones  map[Machine][]string
	quotas map[string]Quota // by metric
}

// Zones lists the zones that have a machine, sorted.
func (a *Availability) Zones(m Machine) []string { return a.zones[m] }

// Quota returns a quota of the region, and reports whether the region lists it.
func (a *Availability) Quota(metric string) (q Quota, listed bool) {
	q, listed = a.quotas[metric]
	return q, listed
}

// QuotaFor returns the quota that limits an accelerator most, and reports whether there is one: that of the region,
// or that of the GPUs of the project in all regions.
func (a *Availability) QuotaFor(acc api.Accelerator) (q Quota, listed bool) {
	q, listed = a.Quota(accelerator.QuotaMetric(acc))
	if all, found := a.Quota(accelerator.AllGPUs); found && acc.Kind == api.GPU && (all.Free() == 0 || listed && all.Free() < q.Free()) {
		return all, true
	}
	return q, listed
}

// ReadAvailability asks Compute Engine, for all at the same time. machines are those that matter.
func ReadAvailability(ctx context.Context, access *gcp.Access, project, region string, machines []Machine) (*Availability, error) {
	service, err := newService(ctx, access)
	if err != nil {
		return nil, err
	}
	var a Availability
	var everywhere map[string]Quota
	var all errgroup.Group
	all.Go(func() (err error) {
		a.zones, err = Zones(ctx, access, project, machines)
		return err
	})
	all.Go(func() error {
		answer, err := service.Regions.Get(project, region).Context(ctx).Do()
		if err == nil {
			a.quotas = Quotas(answer.Quotas)
		}
		return access.Explain(err, project, "reading the quotas of "+region)
	})
	all.Go(func() error {
		answer, err := service.Projects.Get(project).Context(ctx).Do()
		if err == nil {
			everywhere = Quotas(answer.Quotas)
		}
		return access.Explain(err, project, "reading the quotas of project "+project)
	})
	if err := all.Wait(); err != nil {
		return nil, err
	}
	maps.Copy(a.quotas, everywhere)
	return &a, nil
}

func newService(ctx context.Context, access *gcp.Access) (*compute.Service, error) {
	service, err := compute.NewService(ctx, access.Options(gcp.Compute)...)
	if err != nil {
		return nil, fmt.Errorf("making a client for Compute Engine: %w", err)
	}
	return service, nil
}

// Zones returns the zones of a project that have each machine, sorted. The list of one that no zone has is
// empty, not nil.
func Zones(ctx context.Context, access *gcp.Access, project string, machines []Machine) (map[Machine][]string, error) {
	service, err := newService(ctx, access)
	if err != nil {
		return nil, err
	}
	var types, gpus []string
	for _, m := range machines {
		types = append(types, m.Type)
		if m.GPU != "" {
			gpus = append(gpus, m.GPU)
		}
	}
	var ofType, ofGPU map[string][]string
	var both errgroup.Group
	both.Go(func() (err error) {
		ofType, err = zonesOfTypes(ctx, service, project, types)
		return access.Explain(err, project, "asking which zones have which machines")
	})
	both.Go(func() (err error) {
		ofGPU, err = zonesOfGPUs(ctx, service, project, gpus)
		return access.Explain(err, project, "asking which zones have which GPUs")
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	all := map[Machine][]string{}
	for _, m := range machines {
		all[m] = slices.DeleteFunc(append([]string{}, ofType[m.Type]...), func(zone string) bool {
			return m.GPU != "" && !slices.Contains(ofGPU[m.GPU], zone)
		})
		slices.Sort(all[m])
	}
	return all, nil
}

// anyOf returns a filter for things with one of some names.
func anyOf(names []string) string {
	var parts []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		parts = append(parts, fmt.Sprintf("(name = %q)", name))
	}
	return strings.Join(parts, " OR ")
}

func zonesOfTypes(ctx context.Context, service *compute.Service, project string, types []string) (map[string][]string, error) {
	all := map[string][]string{}
	return all, service.MachineTypes.AggregatedList(project).Filter(anyOf(types)).Pages(ctx, func(page *compute.MachineTypeAggregatedList) error {
		for scope, found := range page.Items {
			for _, m := range found.MachineTypes {
				all[m.Name] = append(all[m.Name], strings.TrimPrefix(scope, "zones/"))
			}
		}
		return nil
	})
}

// zonesOfGPUs returns the zones that have GPUs to attach, by type. It asks for nothing if there are no types.
func zonesOfGPUs(ctx context.Context, service *compute.Service, project string, types []string) (map[string][]string, error) {
	all := map[string][]string{}
	if len(types) == 0 {
		return all, nil
	}
	return all, service.AcceleratorTypes.AggregatedList(project).Filter(anyOf(types)).Pages(ctx, func(page *compute.AcceleratorTypeAggregatedList) error {
		for scope, found := range page.Items {
			for _, gpu := range found.AcceleratorTypes {
				all[gpu.Name] = append(all[gpu.Name], strings.TrimPrefix(scope, "zones/"))
			}
		}
		return nil
	})
}

// Machines lists the machine types of a zone, or of the first zone of a region.
func Machines(ctx context.Context, access *gcp.Access, project, location string) ([]string, error) {
	service, err := newService(ctx, access)
	if err != nil {
		return nil, err
	}
	zone := location
	if config.Region(location) == location {
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

// Quotas returns quotas by their metrics.
func Quotas(all []*compute.Quota) map[string]Quota {
	byMetric := map[string]Quota{}
	for _, q := range all {
		byMetric[q.Metric] = Quota{q.Metric, q.Limit, q.Usage}
	}
	return byMetric
}
