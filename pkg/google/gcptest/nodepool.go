package gcptest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const poolName = `^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`

func fillPool(c *container.Cluster, p *container.NodePool) {
	p.SelfLink = c.SelfLink + "/nodePools/" + p.Name
	p.Version, p.Etag, p.Status = c.CurrentNodeVersion, "etag-1", "PROVISIONING"
	if p.Config == nil {
		p.Config = &container.NodeConfig{MachineType: "e2-medium"}
	}
	if p.Config.DiskSizeGb == 0 {
		p.Config.DiskSizeGb = 100
	}
	if p.Config.DiskType == "" {
		p.Config.DiskType = "pd-balanced"
	}
	if p.Config.WorkloadMetadataConfig == nil {
		p.Config.WorkloadMetadataConfig = &container.WorkloadMetadataConfig{Mode: "GCE_METADATA"}
		if c.WorkloadIdentityConfig != nil {
			p.Config.WorkloadMetadataConfig.Mode = "GKE_METADATA"
		}
	}
	if len(p.Locations) == 0 {
		p.Locations = c.Locations
	}
	if p.Management == nil {
		p.Management = &container.NodeManagement{AutoRepair: true, AutoUpgrade: true}
	}
}

// pool is a node pool of a cluster.
type pool struct {
	*container.NodePool
	cluster *container.Cluster
}

// path returns the path of the pool's name.
func (p pool) path() string { return target(p.cluster) + "/nodePools/" + p.Name }

func (r *request) pool() (pool, error) {
	c, err := r.cluster()
	if err != nil {
		return pool{}, err
	}
	i := slices.IndexFunc(c.NodePools, func(p *container.NodePool) bool { return p.Name == r.values["pool"] })
	if i < 0 {
		return pool{}, notFound("Not found: %s/nodePools/%s.", target(c), r.values["pool"])
	}
	return pool{c.NodePools[i], c}, nil
}

func target(c *container.Cluster) string {
	return strings.TrimPrefix(c.SelfLink, "https://container.googleapis.com/v1/")
}

func (s *Server) listPools(_ *request, c *container.Cluster) (any, error) {
	return &container.ListNodePoolsResponse{NodePools: c.NodePools}, nil
}

func (s *Server) createPool(r *request, c *container.Cluster) (any, error) {
	if err := s.free(c); err != nil {
		return nil, err
	}
	var wanted container.CreateNodePoolRequest
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	p := wanted.NodePool
	if err := s.checkPool(r, c, p); err != nil {
		return nil, err
	}
	if err := s.checkNodes(r.values["project"], []*container.NodePool{p}); err != nil {
		return nil, err
	}
	fillPool(c, p)
	c.NodePools = append(c.NodePools, p)
	return s.operate(r, "CREATE_NODE_POOL", target(c)+"/nodePools/"+p.Name, func(failed *Error) {
		p.Status = "RUNNING"
		if failed != nil {
			p.Status, p.StatusMessage = "ERROR", failed.Message
		}
	}), nil
}

// checkPool refuses what GKE refuses.
func (s *Server) checkPool(r *request, c *container.Cluster, p *container.NodePool) error {
	switch {
	case p == nil || p.Config == nil:
		return badRequest("node_pool must be set.")
	case c.Autopilot != nil && c.Autopilot.Enabled:
		return badRequest("Autopilot clusters do not support mutating node pools.")
	case !lazyregexp.Of(poolName).MatchString(p.Name):
		return badRequest("Invalid value for field \"node_pool.name\": %q. Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?)'.", p.Name)
	case slices.ContainsFunc(c.NodePools, func(other *container.NodePool) bool { return other.Name == p.Name }):
		return exists("Already exists: %s/nodePools/%s.", target(c), p.Name)
	}
	if err := cmp.Or(checkAutoscaling(p), checkPlacement(p), checkCapacity(p), checkNetworkProfile(c, p)); err != nil {
		return err
	}
	zones := p.Locations
	if len(zones) == 0 {
		zones = c.Locations
	}
	for _, zone := range zones {
		if !s.offers(zone, p.Config.MachineType) {
			return badRequest("Machine type with name '%s' does not exist in zone '%s'.", p.Config.MachineType, zone)
		}
		for _, gpu := range p.Config.Accelerators {
			if strings.HasPrefix(p.Config.MachineType, "n1-") && !s.attaches(zone, gpu.AcceleratorType) {
				return badRequest("Accelerator type \"%s\" does not exist in zone %s.", gpu.AcceleratorType, zone)
			}
		}
	}
	return s.checkQuota(r, p, zones[0])
}

func checkAutoscaling(p *container.NodePool) error {
	a := p.Autoscaling
	switch {
	case a == nil || !a.Enabled:
		return nil
	case a.MaxNodeCount == 0 && a.TotalMaxNodeCount == 0:
		return badRequest("max_node_count must be set when autoscaling is enabled.")
	case a.MinNodeCount > a.MaxNodeCount || a.TotalMinNodeCount > a.TotalMaxNodeCount:
		return badRequest("min_node_count can't be greater than max_node_count.")
	}
	return nil
}

func (s *Server) deletePool(r *request, p pool) (any, error) {
	if err := s.freePool(p); err != nil {
		return nil, err
	}
	p.Status = "STOPPING"
	return s.operate(r, "DELETE_NODE_POOL", p.path(), func(failed *Error) {
		if failed != nil {
			p.Status = "RUNNING"
			return
		}
		p.cluster.NodePools = slices.DeleteFunc(p.cluster.NodePools, func(other *container.NodePool) bool { return other == p.NodePool })
	}), nil
}

// freePool returns an error while an operation changes a node pool, or its cluster.
func (s *Server) freePool(p pool) error {
	if o := s.pending(func(o *operation) bool { return o.target == p.path() }); o != nil {
		return &Error{Code: http.StatusBadRequest, Reason: "CLUSTER_ALREADY_HAS_OPERATION",
			Message: fmt.Sprintf("Node pool %s is running incompatible operation %s.", p.Name, o.name), Metadata: map[string]string{"operation": o.name}}
	}
	return s.free(p.cluster)
}

func (s *Server) setPoolSize(r *request, p pool) (any, error) {
	var wanted container.SetNodePoolSizeRequest
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	if err := s.freePool(p); err != nil {
		return nil, err
	}
	sized := *p.NodePool
	sized.InitialNodeCount = wanted.NodeCount
	if err := checkPlacement(&sized); err != nil {
		return nil, err
	}
	return s.operate(r, "SET_NODE_POOL_SIZE", p.path(), func(failed *Error) {
		if failed == nil {
			p.InitialNodeCount = wanted.NodeCount
		}
	}), nil
}

func (s *Server) setPoolAutoscaling(r *request, p pool) (any, error) {
	var wanted container.SetNodePoolAutoscalingRequest
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	if err := s.freePool(p); err != nil {
		return nil, err
	}
	scaled := *p.NodePool
	scaled.Autoscaling = wanted.Autoscaling
	if err := cmp.Or(checkAutoscaling(&scaled), checkPlacement(&scaled), checkCapacity(&scaled)); err != nil {
		return nil, err
	}
	return s.operate(r, "SET_NODE_POOL_AUTOSCALING", p.path(), func(failed *Error) {
		if failed == nil {
			p.Autoscaling = wanted.Autoscaling
		}
	}), nil
}
