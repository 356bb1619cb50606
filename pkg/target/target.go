// Package target decides where a job goes: the Google Cloud project, zone and
// cluster, the kubeconfig context and namespace, and the store. It reads the
// flags, the environment and the kubeconfig; it contacts nothing and never
// changes the kubeconfig.
package target

import (
	"fmt"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Flags are what the command line says; empty is not given.
type Flags struct {
	Project, Zone, Cluster, Store string
	// Context and Namespace are kubectl's --context and --namespace.
	Context, Namespace string
}

// KubeConfig is the part of a clientcmd.ClientConfig that is needed here;
// ConfigFlags.ToRawKubeConfigLoader has it. Its Context override plays no part.
type KubeConfig interface {
	RawConfig() (clientcmdapi.Config, error)
}

// Need says what the target is for.
type Need struct {
	// Cluster: a cluster will be contacted, so there must be a context.
	Cluster bool
	// Local: the job runs on this machine. Only the store matters then, and
	// the kubeconfig is not read.
	Local bool
}

// Target is where a job goes. What does not apply is empty: everything but the
// store for a local job, the context when no cluster is contacted and the
// kubeconfig has none that fits.
type Target struct {
	Project, Zone, Cluster string
	// Context names the kubeconfig's context to use for this call. It may be
	// another than the current one, which stays as it is.
	Context   string
	Namespace string
	// Store is gs://BUCKET[/PREFIX] or file:///DIR, without a trailing slash.
	Store string
	// From says where each value came from.
	From Sources
}

// Sources are the origins of a Target's values, as a user knows them: a flag
// (--project), a variable (KINETIC_PROJECT), "context NAME", "current context",
// "project, zone and cluster" for the context that was chosen by them, or
// "default". The origin of an empty value is empty.
type Sources struct {
	Project, Zone, Cluster, Context, Namespace, Store string
}

// setting is a value and where it came from.
type setting struct{ value, from string }

// first is the first setting that has a value.
func first(settings ...setting) setting {
	for _, s := range settings {
		if s.value != "" {
			return s
		}
	}
	return setting{}
}

// The origin of values that nobody has set, and the values.
const (
	fromDefault      = "default"
	defaultZone      = "us-central1-a"
	defaultCluster   = "kinetic-cluster"
	defaultNamespace = "default"
)

// Resolve finds each value in the first of these that has it: its flag, its
// variable KINETIC_*, the kubeconfig's context, a default. A --context counts
// before the variables. Project, zone and cluster that are not those of the
// current context choose the context of the cluster they name. Errors are all
// about what the user has set, or has to set.
func Resolve(f Flags, env func(string) string, kube KubeConfig, need Need) (Target, error) {
	if need.Local {
		return resolveLocal(f, env)
	}
	config, err := kube.RawConfig()
	if err != nil {
		return Target{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if err := checkPlace(placeOf(f, env)); err != nil {
		return Target{}, err
	}
	where, context, err := locate(f, env, config, need)
	if err != nil {
		return Target{}, err
	}
	namespace, err := resolveNamespace(f, env, config, context)
	if err != nil {
		return Target{}, err
	}
	store, err := resolveStore(f, env, where)
	if err != nil {
		return Target{}, err
	}
	return Target{
		Project: where.project.value, Zone: where.zone.value, Cluster: where.cluster.value,
		Context: context.value, Namespace: namespace.value, Store: store.value,
		From: Sources{
			Project: where.project.from, Zone: where.zone.from, Cluster: where.cluster.from,
			Context: context.from, Namespace: namespace.from, Store: store.from,
		},
	}, nil
}

func resolveLocal(f Flags, env func(string) string) (Target, error) {
	store := first(setting{f.Store, "--store"}, setting{env("KINETIC_STORE"), "KINETIC_STORE"})
	if strings.HasPrefix(store.value, bucketScheme) {
		if f.Store != "" {
			return Target{}, fmt.Errorf("--store %s: a local job keeps its things in a directory: leave --store out, or name one with file:///DIR", f.Store)
		}
		store = setting{} // the bucket of this shell's cluster
	}
	if store.value == "" {
		url, err := LocalStore(env)
		if err != nil {
			return Target{}, err
		}
		store = setting{url, fromDefault}
	}
	url, err := checkStore(store.value)
	if err != nil {
		return Target{}, fmt.Errorf("%s %s: %w", store.from, store.value, err)
	}
	return Target{Store: url, From: Sources{Store: store.from}}, nil
}

func resolveNamespace(f Flags, env func(string) string, config clientcmdapi.Config, context setting) (setting, error) {
	var own setting
	if c := config.Contexts[context.value]; c != nil {
		own = setting{c.Namespace, "context " + context.value}
	}
	namespace := first(
		setting{f.Namespace, "--namespace"},
		setting{env("KINETIC_NAMESPACE"), "KINETIC_NAMESPACE"},
		own,
		setting{defaultNamespace, fromDefault},
	)
	return namespace, checkNamespace(namespace)
}
