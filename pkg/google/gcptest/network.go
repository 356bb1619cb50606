package gcptest

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"
)

// networkState is the networks, by their paths: "projects/acme/global/networks/kn-research".
type networkState struct {
	networks  map[string]*compute.Network
	routers   map[string]*compute.Router
	firewalls map[string]*compute.Firewall
	subnets   map[string]*compute.Subnetwork // of networks that have chosen theirs
}

func newNetworkState() networkState {
	return networkState{map[string]*compute.Network{}, map[string]*compute.Router{}, map[string]*compute.Firewall{}, map[string]*compute.Subnetwork{}}
}

// networkRoutes are the methods of Compute Engine for networks, routers and firewall rules.
func (s *Server) networkRoutes() []route {
	const networks, routers, firewalls = computeBase + "global/networks", computeBase + "regions/{region}/routers", computeBase + "global/firewalls"
	return []route{
		{http.MethodGet, networks + "/{name}", "compute.networks.get", s.getNetwork},
		{http.MethodPost, networks, "compute.networks.create", s.createNetwork},
		{http.MethodDelete, networks + "/{name}", "compute.networks.delete", s.deleteNetwork},
		{http.MethodGet, routers + "/{name}", "compute.routers.get", s.getRouter},
		{http.MethodPost, routers, "compute.routers.create", s.createRouter},
		{http.MethodPatch, routers + "/{name}", "compute.routers.update", s.updateRouter},
		{http.MethodDelete, routers + "/{name}", "compute.routers.delete", s.deleteRouter},
		{http.MethodGet, computeBase + "regions/{region}/subnetworks/{name}", "compute.subnetworks.get", s.getSubnet},
		{http.MethodGet, firewalls, "compute.firewalls.list", s.listFirewalls},
		{http.MethodDelete, firewalls + "/{name}", "compute.firewalls.delete", s.deleteFirewall},
	}
}

// Network returns a network, nil if there is none. The caller must not change it.
func (s *Server) Network(project, name string) *compute.Network {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cloud.network.networks["projects/"+project+"/global/networks/"+name]
}

// Router returns a router, nil if there is none. The caller must not change it.
func (s *Server) Router(project, region, name string) *compute.Router {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cloud.network.routers["projects/"+project+"/regions/"+region+"/routers/"+name]
}

// AddNetwork adds a network.
func (s *Server) AddNetwork(project string, n *compute.Network) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := "projects/" + project + "/global/networks/" + n.Name
	n.SelfLink = link(path)
	s.cloud.network.networks[path] = n
}

// AddSubnet adds a subnet to a network.
func (s *Server) AddSubnet(project, region, network string, n *compute.Subnetwork) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := "projects/" + project + "/regions/" + region + "/subnetworks/" + n.Name
	n.SelfLink, n.Network = link(path), link("projects/"+project+"/global/networks/"+network)
	s.cloud.network.subnets[path] = n
}

// AddRouter adds a router of a network.
func (s *Server) AddRouter(project, region, network string, r *compute.Router) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := "projects/" + project + "/regions/" + region + "/routers/" + r.Name
	r.SelfLink, r.Network = link(path), link("projects/"+project+"/global/networks/"+network)
	s.cloud.network.routers[path] = r
}

// AddFirewall adds a firewall rule to a network, as GKE does.
func (s *Server) AddFirewall(project, network, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cloud.network.firewalls["projects/"+project+"/global/firewalls/"+name] = &compute.Firewall{Name: name, Network: link("projects/" + project + "/global/networks/" + network)}
}

func link(path string) string { return "https://www.googleapis.com/compute/v1/" + path }

func where(r *request, kind, name string) string {
	scope := "global"
	if region := r.values["region"]; region != "" {
		scope = "regions/" + region
	}
	return "projects/" + r.values["project"] + "/" + scope + "/" + kind + "/" + name
}

func absent(path string) error { return notFound("The resource '%s' was not found", path) }

func (s *Server) getNetwork(r *request) (any, error) {
	path := where(r, "networks", r.values["name"])
	if n := s.cloud.network.networks[path]; n != nil {
		return n, nil
	}
	return nil, absent(path)
}

func (s *Server) getSubnet(r *request) (any, error) {
	path := where(r, "subnetworks", r.values["name"])
	if n := s.cloud.network.subnets[path]; n != nil {
		return n, nil
	}
	return nil, absent(path)
}

// setNetworks fills in the full names of a cluster's network and subnet, as GKE does, and shortens the names in the request.
func setNetworks(project, location string, c *container.Cluster) {
	if c.Network == "" {
		return
	}
	if c.NetworkConfig == nil {
		c.NetworkConfig = &container.NetworkConfig{}
	}
	region := location
	if strings.Count(location, "-") == 2 { // a zone
		region = location[:strings.LastIndexByte(location, '-')]
	}
	full := func(name, scope string) string {
		if name == "" || strings.Contains(name, "/") {
			return name
		}
		return "projects/" + project + "/" + scope + "/" + name
	}
	c.NetworkConfig.Network = full(c.Network, "global/networks")
	c.NetworkConfig.Subnetwork = full(c.Subnetwork, "regions/"+region+"/subnetworks")
	c.Network = path.Base(c.Network)
	if c.Subnetwork != "" {
		c.Subnetwork = path.Base(c.Subnetwork)
	}
}

func (s *Server) createNetwork(r *request) (any, error) {
	var wanted compute.Network
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	path := where(r, "networks", wanted.Name)
	if s.cloud.network.networks[path] != nil {
		return nil, exists("The resource '%s' already exists", path)
	}
	wanted.SelfLink = link(path)
	return s.computeOperation(r, "insert", path, func(failed *Error) {
		if failed == nil {
			s.cloud.network.networks[path] = &wanted
		}
	}), nil
}

func (s *Server) deleteNetwork(r *request) (any, error) {
	path := where(r, "networks", r.values["name"])
	if s.cloud.network.networks[path] == nil {
		return nil, absent(path)
	}
	if user := s.userOf(path, r.values["project"], r.values["name"]); user != "" {
		return nil, &Error{Code: http.StatusBadRequest, Reason: "resourceInUseByAnotherResource",
			Message: "The network resource '" + path + "' is already being used by '" + user + "'"}
	}
	return s.computeOperation(r, "delete", path, func(failed *Error) {
		if failed == nil {
			delete(s.cloud.network.networks, path)
		}
	}), nil
}

// userOf returns what is in a network, "" if nothing is.
func (s *Server) userOf(path, project, name string) string {
	for user, f := range s.cloud.network.firewalls {
		if f.Network == link(path) {
			return user
		}
	}
	for user, router := range s.cloud.network.routers {
		if strings.HasSuffix(router.Network, path) {
			return user
		}
	}
	for user, c := range s.container.clusters {
		if strings.HasPrefix(user, "projects/"+project+"/") && c.Network == name {
			return user
		}
	}
	return ""
}

func (s *Server) getRouter(r *request) (any, error) {
	path := where(r, "routers", r.values["name"])
	if found := s.cloud.network.routers[path]; found != nil {
		return found, nil
	}
	return nil, absent(path)
}

func (s *Server) createRouter(r *request) (any, error) {
	var wanted compute.Router
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	path := where(r, "routers", wanted.Name)
	if s.cloud.network.routers[path] != nil {
		return nil, exists("The resource '%s' already exists", path)
	}
	if s.cloud.network.networks[strings.TrimPrefix(wanted.Network, link(""))] == nil {
		return nil, absent(wanted.Network)
	}
	wanted.Region = r.values["region"]
	return s.computeOperation(r, "insert", path, func(failed *Error) {
		if failed == nil {
			s.cloud.network.routers[path] = &wanted
		}
	}), nil
}

func (s *Server) updateRouter(r *request) (any, error) {
	var wanted compute.Router
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	path := where(r, "routers", r.values["name"])
	found := s.cloud.network.routers[path]
	if found == nil {
		return nil, absent(path)
	}
	return s.computeOperation(r, "patch", path, func(failed *Error) {
		if failed == nil {
			found.Nats = wanted.Nats
		}
	}), nil
}

func (s *Server) deleteRouter(r *request) (any, error) {
	path := where(r, "routers", r.values["name"])
	if s.cloud.network.routers[path] == nil {
		return nil, absent(path)
	}
	return s.computeOperation(r, "delete", path, func(failed *Error) {
		if failed == nil {
			delete(s.cloud.network.routers, path)
		}
	}), nil
}

func (s *Server) listFirewalls(r *request) (any, error) {
	var all []*compute.Firewall
	for _, name := range slices.Sorted(maps.Keys(s.cloud.network.firewalls)) {
		if strings.HasPrefix(name, "projects/"+r.values["project"]+"/") {
			all = append(all, s.cloud.network.firewalls[name])
		}
	}
	items, next := page(r, all)
	return &compute.FirewallList{Items: items, NextPageToken: next}, nil
}

func (s *Server) deleteFirewall(r *request) (any, error) {
	path := where(r, "firewalls", r.values["name"])
	if s.cloud.network.firewalls[path] == nil {
		return nil, absent(path)
	}
	return s.computeOperation(r, "delete", path, func(failed *Error) {
		if failed == nil {
			delete(s.cloud.network.firewalls, path)
		}
	}), nil
}

// withNetworks adds the methods for networks to Compute Engine's.
func (s *Server) withNetworks(compute *service) *service {
	compute.routes = append(compute.routes, s.networkRoutes()...)
	return compute
}
