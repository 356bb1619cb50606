package gcptest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// containerState is the clusters, by the paths of their names.
type containerState struct {
	clusters map[string]*container.Cluster
	// endpoint and authority are those of the API server of clusters.
	endpoint, authority string
	// version is that of later clusters and their nodes.
	version string
}

const (
	clustersPath  = "v1/projects/{project}/locations/{location}/clusters"
	clusterPath   = clustersPath + "/{cluster}"
	nodePoolsPath = clusterPath + "/nodePools"
	nodePoolPath  = nodePoolsPath + "/{pool}"
	// usualVersion is that of clusters and their nodes, unless another is set.
	usualVersion = "1.35.1-gke.1396000"
)

// containerService is the part of GKE's API that has clusters and node pools.
func (s *Server) containerService() *service {
	s.container.clusters, s.container.version = map[string]*container.Cluster{}, usualVersion
	return &service{name: gcp.Container, base: "/", routes: []route{
		{http.MethodGet, clustersPath, "container.clusters.list", s.listClusters},
		{http.MethodPost, clustersPath, "container.clusters.create", s.createCluster},
		{http.MethodGet, clusterPath, "container.clusters.get", with((*request).cluster, found)},
		{http.MethodPut, clusterPath, "container.clusters.update", with((*request).cluster, s.updateCluster)},
		{http.MethodDelete, clusterPath, "container.clusters.delete", with((*request).cluster, s.deleteCluster)},
		{http.MethodPost, clusterPath + ":setResourceLabels", "container.clusters.update", with((*request).cluster, s.setClusterLabels)},
		{http.MethodGet, nodePoolsPath, "container.clusters.get", with((*request).cluster, s.listPools)},
		{http.MethodPost, nodePoolsPath, "container.clusters.update", with((*request).cluster, s.createPool)},
		{http.MethodGet, nodePoolPath, "container.clusters.get", with((*request).pool, func(_ *request, p pool) (any, error) { return p.NodePool, nil })},
		{http.MethodDelete, nodePoolPath, "container.clusters.update", with((*request).pool, s.deletePool)},
		{http.MethodPost, nodePoolPath + ":setSize", "container.clusters.update", with((*request).pool, s.setPoolSize)},
		{http.MethodPost, nodePoolPath + ":setAutoscaling", "container.clusters.update", with((*request).pool, s.setPoolAutoscaling)},
		{http.MethodGet, "v1/projects/{project}/locations/{location}/operations", "container.operations.list", s.listContainerOperations},
		{http.MethodGet, "v1/projects/{project}/locations/{location}/operations/{operation}", "container.operations.get", s.getOperation},
	}}
}

// AddCluster adds a cluster that is running, with its node pools, as GKE would show it.
func (s *Server) AddCluster(project, location string, c *container.Cluster) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addCluster(project, location, c)
	c.Status = "RUNNING"
	for _, p := range c.NodePools {
		p.Status = "RUNNING"
	}
}

// RemoveCluster removes a cluster, as if someone else had deleted it.
func (s *Server) RemoveCluster(project, location, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.container.clusters, clusterName(project, location, name))
}

// SetClusterStatus sets the status of a cluster.
func (s *Server) SetClusterStatus(project, location, name, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.container.clusters[clusterName(project, location, name)].Status = status
}

// Cluster returns a cluster as GKE shows it, nil if there is none. The caller must not change it.
func (s *Server) Cluster(project, location, name string) *container.Cluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.container.clusters[clusterName(project, location, name)]
}

func clusterName(project, location, name string) string {
	return fmt.Sprintf("projects/%s/locations/%s/clusters/%s", project, location, name)
}

// addCluster fills in what GKE itself sets.
func (s *Server) addCluster(project, location string, c *container.Cluster) {
	c.Id, c.Etag = fmt.Sprintf("%064d", len(s.container.clusters)+1), "etag-1"
	c.Location, c.Zone, c.LabelFingerprint = location, location, fingerprint(c.ResourceLabels)
	c.SelfLink = "https://container.googleapis.com/v1/" + clusterName(project, location, c.Name)
	endpoint, certificate := s.container.address()
	c.Endpoint, c.Status = endpoint, "PROVISIONING"
	setEndpoints(c)
	c.CurrentMasterVersion, c.CurrentNodeVersion = s.container.version, s.container.version
	if c.MasterAuth == nil {
		c.MasterAuth = &container.MasterAuth{}
	}
	c.MasterAuth.ClusterCaCertificate = certificate
	if len(c.Locations) == 0 {
		c.Locations = zonesOf(location)
	}
	setNetworks(project, location, c)
	for _, p := range c.NodePools {
		fillPool(c, p)
	}
	s.container.clusters[clusterName(project, location, c.Name)] = c
}

// zonesOf returns the zone itself, or the first three of a region.
func zonesOf(location string) []string {
	if strings.Count(location, "-") == 2 {
		return []string{location}
	}
	return []string{location + "-a", location + "-b", location + "-c"}
}

func (r *request) cluster() (*container.Cluster, error) {
	name := clusterName(r.values["project"], r.values["location"], r.values["cluster"])
	c := r.server.container.clusters[name]
	if c == nil {
		return nil, notFound("Not found: %s.", name)
	}
	return c, nil
}

func (s *Server) listClusters(r *request) (any, error) {
	answer := &container.ListClustersResponse{}
	for _, name := range slices.Sorted(maps.Keys(s.container.clusters)) {
		c := s.container.clusters[name]
		location := r.values["location"]
		if strings.HasPrefix(name, "projects/"+r.values["project"]+"/") && (location == "-" || location == c.Location) {
			answer.Clusters = append(answer.Clusters, c)
		}
	}
	return answer, nil
}

func (s *Server) createCluster(r *request) (any, error) {
	var wanted container.CreateClusterRequest
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	c := wanted.Cluster
	if c == nil || c.Name == "" {
		return nil, badRequest("Cluster.name must be set.")
	}
	project, location := r.values["project"], r.values["location"]
	name := clusterName(project, location, c.Name)
	if s.container.clusters[name] != nil {
		return nil, exists("Already exists: %s.", name)
	}
	if err := checkCluster(c); err != nil {
		return nil, err
	}
	if err := s.checkNodes(project, c.NodePools); err != nil {
		return nil, err
	}
	s.addCluster(project, location, c)
	s.cloud.lags.Made(project + ".svc.id.goog")
	return s.operate(r, "CREATE_CLUSTER", name, func(failed *Error) {
		c.Status = "RUNNING"
		for _, p := range c.NodePools {
			p.Status = "RUNNING"
		}
		if failed != nil {
			c.Status, c.StatusMessage = "ERROR", failed.Message
		}
	}), nil
}

func (s *Server) updateCluster(r *request, c *container.Cluster) (any, error) {
	if err := s.free(c); err != nil {
		return nil, err
	}
	var wanted container.UpdateClusterRequest
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	changed, err := updated(c, wanted.Update)
	if err != nil {
		return nil, err
	}
	name := clusterName(r.values["project"], c.Location, c.Name)
	c.Status = "RECONCILING"
	return s.operate(r, "UPDATE_CLUSTER", name, func(failed *Error) {
		c.Status = "RUNNING"
		if failed == nil {
			*c = *changed
			setEndpoints(c)
		}
	}), nil
}

func (s *Server) setClusterLabels(r *request, c *container.Cluster) (any, error) {
	var wanted container.SetLabelsRequest
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	if err := s.free(c); err != nil {
		return nil, err
	}
	if wanted.LabelFingerprint != c.LabelFingerprint {
		return nil, &Error{Code: http.StatusPreconditionFailed, Message: "Labels could not be set due to fingerprint mismatch."}
	}
	return s.operate(r, "UPDATE_CLUSTER", clusterName(r.values["project"], c.Location, c.Name), func(failed *Error) {
		if failed == nil {
			c.ResourceLabels, c.LabelFingerprint = wanted.ResourceLabels, fingerprint(wanted.ResourceLabels)
		}
	}), nil
}

func fingerprint(labels map[string]string) string {
	sum := sha256.Sum256(fmt.Append(nil, labels)) // in order
	return hex.EncodeToString(sum[:4])
}

func (s *Server) deleteCluster(r *request, c *container.Cluster) (any, error) {
	name := clusterName(r.values["project"], c.Location, c.Name)
	if o := s.pending(func(o *operation) bool {
		return o.service == gcp.Container && (o.target == name || strings.HasPrefix(o.target, name+"/"))
	}); o != nil {
		return nil, &Error{Code: http.StatusBadRequest,
			Message: fmt.Sprintf("Operation %s is currently operating on cluster %s. Please wait and try again once it is done.", o.name, c.Name)}
	}
	c.Status = "STOPPING"
	return s.operate(r, "DELETE_CLUSTER", name, func(failed *Error) {
		if failed != nil {
			c.Status = "ERROR"
			return
		}
		delete(s.container.clusters, name)
	}), nil
}

// free returns an error while an operation changes a cluster as a whole.
func (s *Server) free(c *container.Cluster) error {
	if o := s.pending(func(o *operation) bool { return o.service == gcp.Container && o.target == target(c) }); o != nil {
		return &Error{Code: http.StatusBadRequest, Reason: "CLUSTER_ALREADY_HAS_OPERATION",
			Message: fmt.Sprintf("Cluster is running incompatible operation %s.", o.name), Metadata: map[string]string{"operation": o.name}}
	}
	return nil
}

func (s *Server) listContainerOperations(r *request) (any, error) {
	var all []*operation
	for _, o := range s.operations.all {
		if o.service == gcp.Container && o.project == r.values["project"] && o.location == r.values["location"] {
			all = append(all, o)
		}
	}
	return map[string]any{"operations": all}, nil
}

func ofContainer(o *operation) *container.Operation {
	wire := &container.Operation{
		Name: o.name, OperationType: o.kind, Location: o.location, Zone: o.location, Status: "RUNNING",
		TargetLink: "https://container.googleapis.com/v1/" + o.target,
		SelfLink:   fmt.Sprintf("https://container.googleapis.com/v1/projects/%s/locations/%s/operations/%s", o.project, o.location, o.name),
	}
	switch {
	case o.done:
		wire.Status = "DONE"
		if o.failed != nil {
			wire.Error = &container.Status{Code: rpc(o.failed.Code), Message: o.failed.Message}
			wire.StatusMessage = o.failed.Message
		}
	case o.left == o.steps:
		wire.Status = "PENDING"
	default:
		wire.Progress = &container.OperationProgress{Status: "RUNNING", Metrics: []*container.Metric{
			{Name: "NODES_TOTAL", IntValue: int64(o.steps)}, {Name: "NODES_DONE", IntValue: int64(o.steps - o.left)},
		}}
	}
	return wire
}

// SetEndpoint has the API server of all later clusters at an address, with the certificate of its
// authority in base64. Without it, nothing answers at their address.
func (s *Server) SetEndpoint(address, authority string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.container.endpoint, s.container.authority = address, authority
}

// SetVersion sets the version of all later clusters, that of the API server which is behind them.
func (s *Server) SetVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.container.version = version
}

// Accepts reports whether a request to such an API server has a token of the account.
func (s *Server) Accepts(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens.accepts(r.Header.Get("Authorization"))
}

// address returns the address of clusters, and the certificate as GKE shows it.
func (s *containerState) address() (endpoint, certificate string) {
	if s.endpoint != "" {
		return s.endpoint, s.authority
	}
	return "203.0.113.10", base64.StdEncoding.EncodeToString([]byte("certificate"))
}

// setEndpoints leaves a cluster without access by its address the name alone. It stands for the same server here, unless
// the cluster already has a name.
func setEndpoints(c *container.Cluster) {
	e := c.ControlPlaneEndpointsConfig
	if e == nil || e.DnsEndpointConfig == nil || e.IpEndpointsConfig == nil || e.IpEndpointsConfig.Enabled || c.Endpoint == "" {
		return
	}
	e.DnsEndpointConfig.Endpoint, c.Endpoint = cmp.Or(e.DnsEndpointConfig.Endpoint, c.Endpoint), ""
}
