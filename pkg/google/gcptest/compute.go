package gcptest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

type computeState struct {
	networks networks
	policies resources[compute.ResourcePolicy]
	quotas   map[string][]*compute.Quota // by region
	// machines are the types that zones have, by zone; if it is empty, they have all.
	machines map[string][]string
	// gpus are the types that can be attached to N1 machines, by zone; if it is empty, all zones with N1
	// machines have all.
	gpus map[string][]string
	// global are the quotas of the project in all regions.
	global []*compute.Quota
}

const (
	computeBase  = "compute/v1/projects/{project}/"
	policiesPath = computeBase + "regions/{region}/resourcePolicies"
)

// computeService is the part of Compute Engine's API that node pools need.
func (s *Server) computeService() *service {
	s.compute = computeState{networks: s.newNetworks(), quotas: map[string][]*compute.Quota{}, machines: map[string][]string{}, gpus: map[string][]string{},
		global: []*compute.Quota{{Metric: accelerator.AllGPUs, Limit: 128}}}
	s.compute.policies = newResources("resourcePolicies", func(p *compute.ResourcePolicy) (string, *string) { return p.Name, &p.SelfLink })
	s.compute.policies.create, s.compute.policies.user = fillPolicy, s.userOfPolicy
	return &service{name: gcp.Compute, base: "/compute/v1/", routes: append(s.networkRoutes(), []route{
		{http.MethodGet, policiesPath, "compute.resourcePolicies.list", s.listPolicies},
		{http.MethodPost, policiesPath, "compute.resourcePolicies.create", s.compute.policies.insert},
		{http.MethodGet, policiesPath + "/{name}", "compute.resourcePolicies.get", s.compute.policies.get},
		{http.MethodDelete, policiesPath + "/{name}", "compute.resourcePolicies.delete", s.compute.policies.remove},
		{http.MethodGet, computeBase + "regions/{region}", "compute.regions.get", s.getRegion},
		{http.MethodGet, computeBase + "zones/{zone}/machineTypes", "compute.machineTypes.list", s.listMachineTypes},
		{http.MethodGet, computeBase + "aggregated/machineTypes", "compute.machineTypes.list", s.listAllMachineTypes},
		{http.MethodGet, computeBase + "aggregated/acceleratorTypes", "compute.acceleratorTypes.list", s.listAllGPUs},
		{http.MethodGet, strings.TrimSuffix(computeBase, "/"), "compute.projects.get", s.getComputeProject},
		{http.MethodGet, computeBase + "regions/{region}/operations/{operation}", "compute.regionOperations.get", s.getOperation},
		{http.MethodGet, computeBase + "global/operations/{operation}", "compute.globalOperations.get", s.getOperation},
	}...)}
}

// SetMachineTypes sets which machine types a zone has. Until then, all zones have all; then those
// for which nothing was set have none with accelerators.
func (s *Server) SetMachineTypes(zone string, types ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compute.machines[zone] = types
}

// SetQuota sets a quota of a region, and how much of it is used.
func (s *Server) SetQuota(region, metric string, limit, usage float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compute.quotas[region] = append(s.compute.quotas[region], &compute.Quota{Metric: metric, Limit: limit, Usage: usage})
}

// SetGPUs sets which GPUs can be attached to the N1 machines of a zone, by their labels. Until then, all zones
// have all; then those for which nothing was set have none.
func (s *Server) SetGPUs(zone string, types ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compute.gpus[zone] = types
}

// SetGlobalQuota sets a quota of the project in all regions, and how much of it is used.
func (s *Server) SetGlobalQuota(metric string, limit, usage float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compute.global = []*compute.Quota{{Metric: metric, Limit: limit, Usage: usage}}
}

// attaches reports whether a zone has GPUs of a type for N1 machines.
func (s *Server) attaches(zone, gpu string) bool {
	return len(s.compute.gpus) == 0 || slices.Contains(s.compute.gpus[zone], gpu)
}

func (s *Server) offers(zone, machine string) bool {
	return len(s.compute.machines) == 0 && (hasE2(zone) || !strings.HasPrefix(machine, "e2-")) || slices.Contains(s.compute.machines[zone], machine) || strings.HasPrefix(machine, "e2-") && hasE2(zone)
}

// hasE2 reports whether a zone has E2 machines. Those of one region don't.
func hasE2(zone string) bool { return !strings.HasPrefix(zone, "us-central2-") }

// checkQuota refuses GPUs that are more than the quota, as GKE does.
func (s *Server) checkQuota(r *request, p *container.NodePool, zone string) error {
	region := zone[:strings.LastIndexByte(zone, '-')]
	for _, a := range p.Config.Accelerators {
		metric := strings.ToUpper(strings.ReplaceAll(strings.Replace(a.AcceleratorType, "-tesla", "", 1), "-", "_")) + "_GPUS"
		if p.Config.Spot {
			metric = "PREEMPTIBLE_" + metric
		}
		need := float64(a.AcceleratorCount * p.InitialNodeCount)
		for _, q := range slices.Concat(s.compute.global, s.compute.quotas[region]) {
			kind := "regional"
			if q.Metric == accelerator.AllGPUs {
				kind = "project"
			}
			if free := q.Limit - q.Usage; (q.Metric == metric || q.Metric == accelerator.AllGPUs) && need > free {
				return &Error{Code: http.StatusForbidden, Message: fmt.Sprintf("Insufficient %s quota to satisfy request: resource %q: "+
					"request requires '%.1f' and is short '%.1f'. project has a quota of '%.1f' with '%.1f' available. "+
					"View and manage quotas at https://console.cloud.google.com/iam-admin/quotas?usage=USED&project=%s.", kind, q.Metric, need, need-free, q.Limit, free, r.project.ID)}
			}
		}
	}
	return nil
}

// link returns the address of a resource of Compute Engine.
func link(path string) string { return "https://www.googleapis.com/compute/v1/" + path }

func fillPolicy(r *request, p *compute.ResourcePolicy) error {
	p.Status, p.Region = "READY", r.values["region"]
	return nil
}

// AddPolicy adds a resource policy.
func (s *Server) AddPolicy(project, region string, p *compute.ResourcePolicy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compute.policies.add(project, region, p)
}

// ResourcePolicy returns a resource policy, nil if there is none. The caller must not change it.
func (s *Server) ResourcePolicy(project, region, name string) *compute.ResourcePolicy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compute.policies.all[s.compute.policies.path(project, region, name)]
}

func (s *Server) listPolicies(r *request) (any, error) {
	items, next := s.compute.policies.list(r)
	return &compute.ResourcePolicyList{Items: items, NextPageToken: next}, nil
}

// userOfPolicy returns a node pool that uses a resource policy, "" if none does.
func (s *Server) userOfPolicy(path string) string {
	parts := strings.Split(path, "/")
	project, region, policy := parts[1], parts[3], parts[5]
	for _, c := range s.container.clusters {
		for _, p := range c.NodePools {
			if strings.HasPrefix(target(c), "projects/"+project+"/") && strings.HasPrefix(c.Location, region) && p.PlacementPolicy != nil && p.PlacementPolicy.PolicyName == policy {
				return target(c) + "/nodePools/" + p.Name
			}
		}
	}
	return ""
}

func (s *Server) getRegion(r *request) (any, error) {
	region := r.values["region"]
	answer := &compute.Region{Name: region, Status: "UP", Quotas: s.compute.quotas[region]}
	for _, zone := range zonesOf(region) {
		answer.Zones = append(answer.Zones, link("projects/"+r.values["project"]+"/zones/"+zone))
	}
	return answer, nil
}

// machineTypes returns the types of a zone, sorted by their names.
func (s *Server) machineTypes(zone string) []*compute.MachineType {
	known := map[string]*compute.MachineType{}
	for _, cpus := range []int64{2, 4, 8, 16} {
		if !hasE2(zone) {
			break
		}
		name := fmt.Sprintf("e2-standard-%d", cpus)
		known[name] = &compute.MachineType{Name: name, Zone: zone, GuestCpus: cpus, MemoryMb: cpus << 12}
	}
	for _, a := range accelerator.Catalogue() {
		if a.MachineType != "" && s.offers(zone, a.MachineType) {
			size := accelerator.Largest(a)
			known[a.MachineType] = &compute.MachineType{Name: a.MachineType, Zone: zone, GuestCpus: int64(size.CPUs), MemoryMb: int64(size.GiB) << 10}
		}
	}
	return slices.SortedFunc(maps.Values(known), func(a, b *compute.MachineType) int { return cmp.Compare(a.Name, b.Name) })
}

func (s *Server) listMachineTypes(r *request) (any, error) {
	if zone := r.values["zone"]; !slices.Contains(s.zones(), zone) {
		return nil, notFound("The resource 'projects/%s/zones/%s' was not found", r.values["project"], zone)
	}
	items, next := page(r, s.machineTypes(r.values["zone"]))
	return &compute.MachineTypeList{Items: items, NextPageToken: next}, nil
}

// zones returns the zones for which machine types were set, those of some regions, and those of the
// regions of clusters.
func (s *Server) zones() []string {
	zones := slices.Collect(maps.Keys(s.compute.machines))
	// regions are some of Google Cloud's, each with three zones.
	regions := []string{"us-central1", "us-east5", "europe-west4"}
	for _, region := range regions {
		zones = append(zones, zonesOf(region)...)
	}
	for _, c := range s.container.clusters {
		zones = append(zones, zonesOf(strings.Join(strings.Split(c.Location, "-")[:2], "-"))...)
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// listAllMachineTypes lists the types of all zones. Filters are read as `name = "X"` with OR
// between them.
func (s *Server) listAllMachineTypes(r *request) (any, error) {
	var all []*compute.MachineType
	for _, zone := range s.zones() {
		for _, m := range s.machineTypes(zone) {
			if filter := r.query.Get("filter"); filter == "" || strings.Contains(filter, strconv.Quote(m.Name)) {
				all = append(all, m)
			}
		}
	}
	items, next := page(r, all)
	answer := &compute.MachineTypeAggregatedList{Items: map[string]compute.MachineTypesScopedList{}, NextPageToken: next}
	for _, m := range items {
		list := answer.Items["zones/"+m.Zone]
		list.MachineTypes = append(list.MachineTypes, m)
		answer.Items["zones/"+m.Zone] = list
	}
	return answer, nil
}

func ofCompute(o *operation) *compute.Operation {
	wire := &compute.Operation{Name: o.name, OperationType: o.kind, Status: "RUNNING",
		TargetLink: link(o.target), Progress: int64(100 * (o.steps - o.left) / max(1, o.steps))}
	if o.location != "" {
		wire.Region = link("projects/" + o.project + "/regions/" + o.location)
	}
	if o.done {
		wire.Status, wire.Progress = "DONE", 100
		if o.failed != nil {
			wire.HttpErrorStatusCode, wire.HttpErrorMessage = int64(o.failed.Code), http.StatusText(o.failed.Code)
			wire.Error = &compute.OperationError{Errors: []*compute.OperationErrorErrors{{Code: o.failed.Reason, Message: o.failed.Message}}}
		}
	}
	return wire
}

// listAllGPUs lists the types of GPUs of all zones. Filters are read as for machine types.
func (s *Server) listAllGPUs(r *request) (any, error) {
	var all []*compute.AcceleratorType
	for _, zone := range s.zones() {
		known := map[string]bool{}
		for _, a := range accelerator.Catalogue() {
			filter := r.query.Get("filter")
			if !strings.HasPrefix(a.MachineType, "n1-") || known[a.Label] || filter != "" && !strings.Contains(filter, strconv.Quote(a.Label)) ||
				!s.offers(zone, a.MachineType) || !s.attaches(zone, a.Label) {
				continue
			}
			known[a.Label] = true
			all = append(all, &compute.AcceleratorType{Name: a.Label, Zone: zone})
		}
	}
	items, next := page(r, all)
	answer := &compute.AcceleratorTypeAggregatedList{Items: map[string]compute.AcceleratorTypesScopedList{}, NextPageToken: next}
	for _, gpu := range items {
		list := answer.Items["zones/"+gpu.Zone]
		list.AcceleratorTypes = append(list.AcceleratorTypes, gpu)
		answer.Items["zones/"+gpu.Zone] = list
	}
	return answer, nil
}

func (s *Server) getComputeProject(r *request) (any, error) {
	return &compute.Project{Name: r.project.ID, Quotas: s.compute.global}, nil
}
