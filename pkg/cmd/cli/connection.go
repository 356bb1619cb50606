package cli

import (
	"os"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kinetic/kinetic/pkg/target"
)

// Connection holds the flags that say where a job goes: kubectl's own, and
// those of GKE. It binds kubectl's with clientcmd, as genericclioptions does:
// that package also brings discovery and every API group, a quarter of the time
// of a dry-run.
type Connection struct {
	Target    target.Flags
	loading   *clientcmd.ClientConfigLoadingRules
	overrides *clientcmd.ConfigOverrides
}

// NewConnection has kubectl's connection flags with kubectl's meaning, all but
// --cluster, which names the GKE cluster here.
func NewConnection() *Connection {
	return &Connection{loading: clientcmd.NewDefaultClientConfigLoadingRules(), overrides: &clientcmd.ConfigOverrides{}}
}

// shown are the connection flags that help lists; it says that the others exist.
var shown = map[string]bool{"context": true, "kubeconfig": true, "namespace": true,
	"project": true, "zone": true, "cluster": true, "store": true}

// Section is the group of all connection flags.
func (c *Connection) Section() Section {
	s := NewSection("Connection (kubectl's other flags, such as --as and --request-timeout, work too)")
	fs := s.Flags
	fs.StringVar(&c.loading.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "The kubeconfig `FILE`.")
	kubectl := clientcmd.RecommendedConfigOverrideFlags("")
	kubectl.ContextOverrideFlags.ClusterName.LongName = ""
	kubectl.ClusterOverrideFlags.APIServer.ShortName = "s"
	kubectl.CurrentContext.Description = "The `NAME` of the kubeconfig's context to use."
	kubectl.ContextOverrideFlags.Namespace.Description = "The `NAMESPACE` of the job."
	clientcmd.BindOverrideFlags(c.overrides, fs, kubectl)
	fs.StringVar(&c.Target.Project, "project", "", "The Google Cloud `PROJECT`.")
	fs.StringVar(&c.Target.Zone, "zone", "", "The `ZONE` of the GKE cluster.")
	fs.StringVar(&c.Target.Cluster, "cluster", "", "The `NAME` of the GKE cluster.")
	fs.StringVar(&c.Target.Store, "store", "", "The `URL` where jobs keep what they need and leave: gs://BUCKET, or file:///DIR for local jobs.")
	fs.VisitAll(func(f *pflag.Flag) { f.Hidden = !shown[f.Name] })
	return s
}

// Resolve finds where a job goes. It reads the kubeconfig, unless the job is
// local, and contacts nothing.
func (c *Connection) Resolve(local bool) (target.Target, error) {
	f := c.Target
	f.Context, f.Namespace = c.overrides.CurrentContext, c.overrides.Context.Namespace
	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.loading, c.overrides)
	return target.Resolve(f, os.Getenv, config, target.Need{Local: local})
}
