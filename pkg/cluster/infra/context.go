package infra

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Context is the entry of the kubeconfig, as `gcloud container clusters get-credentials` writes it. What
// someone has changed in it stays, as long as it leads to the cluster. It is not made the current one.
type Context struct {
	// Access is where the kubeconfig is.
	Access clientcmd.ConfigAccess
	// Name is gcloud's name for the cluster, gke_PROJECT_ZONE_CLUSTER.
	Name string
	// Find returns the addresses of the cluster's API server, first the one to write; none if there is
	// no cluster, or it has no address yet.
	Find func(ctx context.Context) ([]Server, error)
}

// Server is an address of a cluster's API server. Authority is the certificate of the server's authority,
// nil if every machine trusts it. Closing means that it is to be closed, or is already: no kubeconfig should
// lead there.
type Server struct {
	URL       string
	Authority []byte
	Closing   bool
}

// plugin gets credentials for GKE.
const plugin = "gke-gcloud-auth-plugin"

// What an entry can lack.
const (
	address     = "the cluster's address"
	credentials = "the credentials"
)

// Get implements infra.Actor.
func (c Context) Get(ctx context.Context) (State, error) {
	config, err := c.read()
	if err != nil {
		return State{}, err
	}
	_, cluster, user := c.parts(config)
	if config.Contexts[c.Name] == nil && cluster == nil {
		return State{}, nil
	}
	servers, err := c.Find(ctx)
	s := State{Exists: true}
	if err != nil {
		return s, err
	}
	switch {
	case config.Contexts[c.Name] == nil:
		s.Missing = append(s.Missing, "the context")
		if other, _ := c.usedBy(config); other != "" {
			s.Kept = fmt.Sprintf("context %s uses its cluster", other)
		}
	case cluster == nil, len(servers) == 0: // then the entry is that of an earlier cluster
		s.Missing = append(s.Missing, address)
	}
	if user == nil {
		s.Missing = append(s.Missing, credentials)
	}
	if cluster != nil && len(servers) > 0 {
		s.Differences = differences(cluster, servers)
	}
	return s, nil
}

// parts returns the entry and what it names, which is nil if it is missing.
func (c Context) parts(config *clientcmdapi.Config) (*clientcmdapi.Context, *clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {
	entry := config.Contexts[c.Name]
	if entry == nil {
		entry = clientcmdapi.NewContext()
	}
	if entry.Cluster == "" {
		entry.Cluster = c.Name
	}
	if entry.AuthInfo == "" {
		entry.AuthInfo = c.Name
	}
	return entry, config.Clusters[entry.Cluster], config.AuthInfos[entry.AuthInfo]
}

// differences returns why a cluster of the kubeconfig does not lead to one of the servers.
func differences(cluster *clientcmdapi.Cluster, servers []Server) []Difference {
	servers = staying(servers)
	i := index(servers, cluster)
	switch {
	case i < 0:
		return []Difference{{Setting: "address", Have: cluster.Server, Want: servers[0].URL}}
	case !trusts(cluster, servers[i].Authority):
		return []Difference{{Setting: "certificate", Have: "another", Want: "that of the cluster"}}
	}
	return nil
}

// staying returns the servers that are not to be closed, or all if none stays.
func staying(servers []Server) []Server {
	open := slices.DeleteFunc(slices.Clone(servers), func(s Server) bool { return s.Closing })
	if len(open) == 0 {
		return servers
	}
	return open
}

// index returns which of the servers a cluster of the kubeconfig leads to, -1 if to none.
func index(servers []Server, cluster *clientcmdapi.Cluster) int {
	return slices.IndexFunc(servers, func(s Server) bool { return host(s.URL) == host(cluster.Server) })
}

// host returns the address of a server, which may be written with its port.
func host(url string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(url, "https://"), "/"), ":443")
}

// trusts reports whether a cluster of the kubeconfig trusts the authority. What is in another file, and
// what someone trusts on the way to the endpoint with a name, is not known.
func trusts(cluster *clientcmdapi.Cluster, authority []byte) bool {
	data := cluster.CertificateAuthorityData
	if len(data) == 0 && (cluster.CertificateAuthority != "" || cluster.InsecureSkipTLSVerify) {
		return true
	}
	return authority == nil || bytes.Equal(data, authority)
}

func (c Context) read() (*clientcmdapi.Config, error) {
	config, err := c.Access.GetStartingConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return config, nil
}

// Ensure implements infra.Actor. It adds what is missing, and changes only the address and the certificate of
// what is there.
func (c Context) Ensure(ctx context.Context, have State) error {
	servers, err := c.Find(ctx)
	if err != nil {
		return fmt.Errorf("writing the context %s: %w", c.Name, err)
	}
	if len(servers) == 0 {
		return fmt.Errorf("writing the context %s: the cluster has no address: repeat this command once it runs", c.Name)
	}
	mayChange := len(have.Differences) > 0 || slices.Contains(have.Missing, address)
	return c.edit(ctx, func(config *clientcmdapi.Config) {
		entry, cluster, user := c.parts(config)
		config.Contexts[c.Name] = entry
		if user == nil {
			config.AuthInfos[entry.AuthInfo] = newUser()
		}
		if cluster == nil || mayChange && len(differences(cluster, servers)) > 0 {
			entry.Cluster = c.Name // one of another name may be someone else's
			config.Clusters[c.Name] = pointed(config.Clusters[c.Name], servers)
		}
	})
}

// pointed has a cluster of the kubeconfig lead to one of the servers, and keeps its other settings.
func pointed(cluster *clientcmdapi.Cluster, servers []Server) *clientcmdapi.Cluster {
	if cluster == nil {
		cluster = clientcmdapi.NewCluster()
	}
	servers = staying(servers)
	to := servers[max(0, index(servers, cluster))]
	cluster.Server, cluster.CertificateAuthorityData, cluster.CertificateAuthority = to.URL, to.Authority, ""
	return cluster
}

func newUser() *clientcmdapi.AuthInfo {
	user := clientcmdapi.NewAuthInfo()
	user.Exec = &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1beta1", Command: plugin, ProvideClusterInfo: true, InteractiveMode: clientcmdapi.IfAvailableExecInteractiveMode,
		InstallHint: "Install " + plugin + " with: gcloud components install " + plugin,
	}
	return user
}

func (c Context) edit(ctx context.Context, change func(*clientcmdapi.Config)) error {
	if err := edit(ctx, c.Access, change); err != nil {
		return fmt.Errorf("writing the context %s to the kubeconfig: %w", c.Name, err)
	}
	return nil
}

// Delete implements infra.Actor. The cluster and the user stay if another context names them. If the context is
// the current one, none is then.
func (c Context) Delete(ctx context.Context) error {
	return c.edit(ctx, func(config *clientcmdapi.Config) {
		delete(config.Contexts, c.Name)
		cluster, user := c.usedBy(config)
		if cluster == "" {
			delete(config.Clusters, c.Name)
		}
		if user == "" {
			delete(config.AuthInfos, c.Name)
		}
		if config.CurrentContext == c.Name {
			config.CurrentContext = ""
		}
	})
}

// usedBy returns another context that names the cluster, and one that names the user, "" if none does. Someone
// may have renamed the context, or made a second one.
func (c Context) usedBy(config *clientcmdapi.Config) (cluster, user string) {
	for _, name := range slices.Sorted(maps.Keys(config.Contexts)) {
		if name == c.Name {
			continue
		}
		if config.Contexts[name].Cluster == c.Name {
			cluster = cmp.Or(cluster, name)
		}
		if config.Contexts[name].AuthInfo == c.Name {
			user = cmp.Or(user, name)
		}
	}
	return cluster, user
}
