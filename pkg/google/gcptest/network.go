package gcptest

import (
	"net/http"
	"path"
	"strings"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"
)

// networks are Compute Engine's networks, and what is in them.
type networks struct {
	networks  resources[compute.Network]
	routers   resources[compute.Router]
	firewalls resources[compute.Firewall]
	subnets   resources[compute.Subnetwork] // of networks that have chosen theirs
}

func (s *Server) newNetworks() networks {
	n := networks{
		networks:  newResources("networks", func(n *compute.Network) (string, *string) { return n.Name, &n.SelfLink }),
		routers:   newResources("routers", func(r *compute.Router) (string, *string) { return r.Name, &r.SelfLink }),
		firewalls: newResources("firewalls", func(f *compute.Firewall) (string, *string) { return f.Name, &f.SelfLink }),
		subnets:   newResources("subnetworks", func(n *compute.Subnetwork) (string, *string) { return n.Name, &n.SelfLink }),
	}
	n.networks.user, n.routers.create = s.userOfNetwork, s.checkRouter
	return n
}

// networkRoutes are the methods of Compute Engine for networks, routers and firewall rules.
func (s *Server) networkRoutes() []route {
	const networks, routers, firewalls = computeBase + "global/networks", computeBase + "regions/{region}/routers", computeBase + "global/firewalls"
	n := &s.compute.networks
	return []route{
		{http.MethodGet, networks + "/{name}", "compute.networks.get", n.networks.get},
		{http.MethodPost, networks, "compute.networks.create", n.networks.insert},
		{http.MethodDelete, networks + "/{name}", "compute.networks.delete", n.networks.remove},
		{http.MethodGet, routers + "/{name}", "compute.routers.get", n.routers.get},
		{http.MethodPost, routers, "compute.routers.create", n.routers.insert},
		{http.MethodPatch, routers + "/{name}", "compute.routers.update", s.updateRouter},
		{http.MethodDelete, routers + "/{name}", "compute.routers.delete", n.routers.remove},
		{http.MethodGet, computeBase + "regions/{region}/subnetworks/{name}", "compute.subnetworks.get", n.subnets.get},
		{http.MethodGet, firewalls, "compute.firewalls.list", s.listFirewalls},
		{http.MethodDelete, firewalls + "/{name}", "compute.firewalls.delete", n.firewalls.remove},
	}
}

// Network returns a network, nil if there is none. The caller must not change it.
func (s *Server) Network(project, name string) *compute.Network {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.compute.networks.networks
	return n.all[n.path(project, "", name)]
}

// Router returns a router, nil if there is none. The caller must not change it.
func (s *Server) Router(project, region, name string) *compute.Router {
	s.mu.Lock()
	defer s.mu.Unlock()
	routers := &s.compute.networks.routers
	return routers.all[routers.path(project, region, name)]
}

// AddNetwork adds a network.
func (s *Server) AddNetwork(project string, n *compute.Network) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compute.networks.networks.add(project, "", n)
}

// AddSubnet adds a subnet to a network.
func (s *Server) AddSubnet(project, region, network string, n *compute.Subnetwork) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.Network = link(s.compute.networks.networks.path(project, "", network))
	s.compute.networks.subnets.add(project, region, n)
}

// AddRouter adds a router of a network.
func (s *Server) AddRouter(project, region, network string, r *compute.Router) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Network = link(s.compute.networks.networks.path(project, "", network))
	s.compute.networks.routers.add(project, region, r)
}

// AddFirewall adds a firewall rule to a network, as GKE does.
func (s *Server) AddFirewall(project, network, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compute.networks.firewalls.add(project, "", &compute.Firewall{Name: name, Network: link(s.compute.networks.networks.path(project, "", network))})
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

// userOfNetwork returns what is in a network, "" if nothing is.
func (s *Server) userOfNetwork(network string) string {
	for user, f := range s.compute.networks.firewalls.all {
		if f.Network == link(network) {
			return user
		}
	}
	for user, router := range s.compute.networks.routers.all {
		if strings.HasSuffix(router.Network, network) {
			return user
		}
	}
	project, _, _ := strings.Cut(network, "/global/")
	for user, c := range s.container.clusters {
		if strings.HasPrefix(user, project+"/") && c.Network == path.Base(network) {
			return user
		}
	}
	return ""
}

func (s *Server) checkRouter(r *request, wanted *compute.Router) error {
	if s.compute.networks.networks.all[strings.TrimPrefix(wanted.Network, link(""))] == nil {
		return absent(wanted.Network)
	}
	wanted.Region = r.values["region"]
	return nil
}

func (s *Server) updateRouter(r *request) (any, error) {
	var wanted compute.Router
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	path, found, err := s.compute.networks.routers.of(r)
	if err != nil {
		return nil, err
	}
	return s.operate(r, "patch", path, func(failed *Error) {
		if failed == nil {
			found.Nats = wanted.Nats
		}
	}), nil
}

func (s *Server) listFirewalls(r *request) (any, error) {
	items, next := s.compute.networks.firewalls.list(r)
	return &compute.FirewallList{Items: items, NextPageToken: next}, nil
}
