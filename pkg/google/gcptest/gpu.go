package gcptest

import (
	"strconv"
	"strings"

	"google.golang.org/api/compute/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
)

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
