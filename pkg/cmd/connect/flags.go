// Package connect connects to a cluster: it has kubectl's connection flags and those of
// GKE, the target that they choose, and the rest.Config for it.
package connect

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// Flags say where a job runs: kubectl's own flags, and those of GKE. They are bound with
// clientcmd instead of genericclioptions, which does the same but also links discovery and
// every API group, a quarter of the time of a dry-run.
type Flags struct {
	Target    config.Flags
	loading   *clientcmd.ClientConfigLoadingRules
	overrides *clientcmd.ConfigOverrides
	// config reads the kubeconfig once, when first needed.
	config clientcmd.ClientConfig
	// notices is for lines about the cluster: that it is slow to answer, and its warnings.
	// nil discards them.
	notices io.Writer
}

// NewFlags returns kubectl's connection flags with kubectl's meaning, except for --cluster,
// which names the GKE cluster here.
func NewFlags() *Flags {
	c := &Flags{loading: clientcmd.NewDefaultClientConfigLoadingRules(), overrides: &clientcmd.ConfigOverrides{}}
	c.Reload()
	return c
}

// SetNotices sets where lines about the cluster go: that it is slow to answer, and its
// warnings.
func (c *Flags) SetNotices(w io.Writer) { c.notices = w }

// Notice writes a line about the cluster where SetNotices says.
func (c *Flags) Notice(line string) {
	if c.notices != nil {
		fmt.Fprintln(c.notices, ui.Clean(line))
	}
}

// Kubeconfig returns where the kubeconfig is that the flags and the environment name, to change it.
func (c *Flags) Kubeconfig() clientcmd.ConfigAccess { return c.loading }

// Reload has the kubeconfig read again, after a change.
func (c *Flags) Reload() {
	c.config = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.loading, c.overrides)
}

// Section returns the group of all connection flags.
func (c *Flags) Section() cli.Section {
	s := cli.NewSection("Connection (kubectl's other flags, such as --as, work too)")
	fs := s.Flags
	fs.StringVar(&c.loading.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "Kubeconfig `FILE`.")
	kubectl := clientcmd.RecommendedConfigOverrideFlags("")
	kubectl.ContextOverrideFlags.ClusterName.LongName = ""
	kubectl.ClusterOverrideFlags.APIServer.ShortName = "s"
	kubectl.CurrentContext.Description = "Kubeconfig context `NAME`."
	kubectl.ContextOverrideFlags.Namespace.Description = "Kubernetes `NAMESPACE` for jobs."
	clientcmd.BindOverrideFlags(c.overrides, fs, kubectl)
	fs.StringVar(&c.Target.Project, "project", "", "Google Cloud `PROJECT`.")
	fs.StringVar(&c.Target.Zone, "zone", "", "Zone or region, `ZONE`, of the GKE cluster.")
	fs.StringVar(&c.Target.Cluster, "cluster", "", "GKE cluster `NAME`.")
	fs.StringVar(&c.Target.Profile, "profile", "", "Take project, zone, cluster and namespace from the profile `NAME`.")
	fs.StringVar(&c.Target.Store, "store", "", "Store at `URL`: gs://BUCKET, or file:///DIR for local jobs.")
	fs.VarP(new(verbosity), "v", "v", "Log level for requests to the API server, as with kubectl: 0 to 10.")
	// shown are the connection flags that help lists; its heading mentions the others.
	shown := map[string]bool{"context": true, "kubeconfig": true, "namespace": true,
		"project": true, "zone": true, "cluster": true, "profile": true, "store": true}
	fs.VisitAll(func(f *pflag.Flag) { f.Hidden = !shown[f.Name] })
	s.Completions[clientcmd.FlagContext] = offer(c.Contexts)
	s.Completions[clientcmd.FlagNamespace] = c.completeNamespaces
	s.Completions["profile"] = offer(profiles)
	s.Explain = c.explain
	return s
}

// ChooseCluster reports whether a flag chooses a cluster or a namespace of it.
func (c *Flags) ChooseCluster() bool {
	t := c.Target
	return cmp.Or(c.loading.ExplicitPath, c.overrides.CurrentContext, c.overrides.ClusterInfo.Server, c.overrides.Context.Namespace, t.Project, t.Zone, t.Cluster, t.Profile) != ""
}

// verbosity is kubectl's -v: client-go reports its requests through klog.
type verbosity struct{ level klog.Level }

func (v *verbosity) Set(s string) error {
	klog.ClearLogger()
	return v.level.Set(s)
}

func (v *verbosity) String() string { return v.level.String() }

func (v *verbosity) Type() string { return "LEVEL" }

// Resolve finds where a job runs, or will run. It reads files, unless the job is local, and
// contacts nothing.
func (c *Flags) Resolve(local bool) (config.Target, error) {
	return c.resolve(config.Need{Local: local})
}

// ResolveCluster is Resolve for a cluster that will be contacted through REST.
func (c *Flags) ResolveCluster() (config.Target, error) {
	return c.resolve(config.Need{Cluster: true})
}

// ResolveJobs is ResolveCluster for existing jobs, whose records name their stores.
func (c *Flags) ResolveJobs() (config.Target, error) {
	return c.resolve(config.Need{Cluster: true, Jobs: true})
}

// ResolveStored is ResolveJobs without a cluster, for reading the store only.
func (c *Flags) ResolveStored() (config.Target, error) {
	return c.resolve(config.Need{Jobs: true})
}

// Context returns the value of --context, "" if it is not given.
func (c *Flags) Context() string { return c.overrides.CurrentContext }

// SetContext replaces the value of --context.
func (c *Flags) SetContext(name string) { c.overrides.CurrentContext = name }

// NamespaceFlag returns where the value of --namespace is.
func (c *Flags) NamespaceFlag() *string { return &c.overrides.Context.Namespace }

// ResolveNewProfile is ResolveStored for values that become a profile: only --profile chooses one
// that they come from.
func (c *Flags) ResolveNewProfile() (config.Target, error) {
	return c.resolve(config.Need{Jobs: true, NewProfile: true})
}

// Accept sets a flag, which is a field of Target or NamespaceFlag, to an answer. If a new profile can't have the
// value, the flag keeps its old one. The error doesn't name the flag, since nobody typed it.
func (c *Flags) Accept(answer string, flag *string) error {
	old := *flag
	*flag = answer
	_, err := c.ResolveNewProfile()
	if err == nil {
		return nil
	}
	*flag = old
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok && strings.HasPrefix(invalid.From, "--") {
		return invalid.Reason
	}
	return err
}

// Profile returns the profile that the flags or the environment choose in a file, or that is current
// there, and what chose it. Both are empty if there is none.
func (c *Flags) Profile(file config.ProfileFile) (p config.Profile, from string, err error) {
	return config.ChosenProfile(file, c.Target, os.Getenv)
}

func (c *Flags) resolve(need config.Need) (config.Target, error) {
	f := c.Target
	f.Context, f.Namespace = c.overrides.CurrentContext, c.overrides.Context.Namespace
	f.Server = c.overrides.ClusterInfo.Server
	return config.Resolve(f, os.Getenv, c.config, need)
}

// Given returns the typed flags that lead to another cluster or store, without --namespace,
// because every job has its own.
func (c *Flags) Given() string {
	var typed strings.Builder
	for _, f := range []struct{ name, value string }{
		{clientcmd.RecommendedConfigPathFlag, c.loading.ExplicitPath},
		{clientcmd.FlagContext, c.overrides.CurrentContext},
		{"project", c.Target.Project},
		{"zone", c.Target.Zone},
		{"cluster", c.Target.Cluster},
		{"profile", c.Target.Profile},
	} {
		typed.WriteString(flagText(f.name, f.value))
	}
	return typed.String() + c.GivenStore()
}

// GivenStore returns --store as it was typed, which is all that leads to other local jobs.
func (c *Flags) GivenStore() string { return flagText("store", c.Target.Store) }

func flagText(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + "=" + human.Quote(value)
}
