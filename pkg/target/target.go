// Package target decides where a job goes: the Google Cloud project, zone and
// cluster, the kubeconfig context and namespace, and the store. It reads the
// flags, the environment, the profiles, the kubeconfig and gcloud's
// configuration; it contacts nothing and changes none of them.
package target

import (
	"errors"
	"fmt"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Flags are what the command line says; empty is not given.
type Flags struct {
	Project, Zone, Cluster, Store string
	// Profile names one of the user's profiles.
	Profile string
	// Context, Namespace and Server are kubectl's flags of these names.
	Context, Namespace, Server string
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
	// Jobs: it is for jobs that exist, whose workloads tell their stores, so that
	// there need not be one otherwise.
	Jobs bool
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
	// another than the current one, which stays as it is. It is empty where the
	// cluster is reached without one, which From.Context then says.
	Context   string
	Namespace string
	// GKE reports whether the cluster is known to be one of GKE, where pods get
	// credentials from their node.
	GKE bool
	// Store is gs://BUCKET[/PREFIX] or file:///DIR, without a trailing slash; empty
	// where none is known and none is needed.
	Store string
	// From says where each value came from.
	From Sources
}

// Known is the target without a zone and a cluster that no one has set and that play no
// part: a cluster that isn't known to be one of GKE has other names, or none.
func (t Target) Known() Target {
	if t.GKE {
		return t
	}
	if t.From.Zone == fromDefault {
		t.Zone, t.From.Zone = "", ""
	}
	if t.From.Cluster == fromDefault {
		t.Cluster, t.From.Cluster = "", ""
	}
	return t
}

// Sources are the origins of a Target's values, as a user knows them: a flag
// (--project), a variable (KINETIC_PROJECT, CLOUDSDK_CORE_PROJECT), "profile
// NAME", "context NAME", "current context", "project, zone and cluster" for the
// context that was chosen by them, "gcloud configuration NAME", or "default".
// The origin of an empty value is empty, but for a cluster that is reached
// without a context: "--server", or InPod.
type Sources struct {
	Project, Zone, Cluster, Context, Namespace, Store string
}

// setting is a value and where it came from.
type setting struct{ value, from string }

// said is a setting as a message names it.
func (s setting) said() string {
	if strings.HasPrefix(s.from, "--") {
		return s.from + " " + s.value
	}
	return s.value + " of " + s.from
}

// first is the first setting that has a value.
func first(settings ...setting) setting {
	for _, s := range settings {
		if s.value != "" {
			return s
		}
	}
	return setting{}
}

// The origin of values that no one has set, and the values.
const (
	fromDefault      = "default"
	defaultZone      = "us-central1-a"
	defaultCluster   = "kinetic-cluster"
	defaultNamespace = "default"
)

// Resolve finds each value in the first of these that has it: its flag, its
// variable KINETIC_*, the profile, the kubeconfig's context, gcloud's
// configuration, a default. A --context counts before the variables. Project,
// zone and cluster that are not those of the current context choose the context
// of the cluster they name. Files are read only where a value is still missing.
// Errors are all about what the user has set, or has to set.
func Resolve(f Flags, env func(string) string, kube KubeConfig, need Need) (Target, error) {
	if need.Local {
		return resolveLocal(f, env)
	}
	o, err := gather(f, env, kube, need)
	if err != nil {
		return Target{}, err
	}
	where, context, err := o.locate()
	if err != nil {
		return Target{}, err
	}
	namespace, err := o.namespace(context)
	if err != nil {
		return Target{}, err
	}
	store, err := resolveStore(f, env, where)
	if err != nil && (!need.Jobs || !errors.Is(err, ErrNoStore)) {
		return Target{}, err
	}
	return Target{
		Project: where.project.value, Zone: where.zone.value, Cluster: where.cluster.value,
		Context: context.value, Namespace: namespace.value, GKE: o.isGKE(context), Store: store.value,
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
			return Target{}, fmt.Errorf("--store %s: a local job needs a directory: omit --store, or use file:///DIR", f.Store)
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

// namespaceGiven is the namespace that was set for this call or this shell.
func namespaceGiven(f Flags, env func(string) string) setting {
	return first(setting{f.Namespace, "--namespace"}, setting{env("KINETIC_NAMESPACE"), "KINETIC_NAMESPACE"})
}

func (o origins) namespace(context setting) (setting, error) {
	var own setting
	if c := o.config.Contexts[context.value]; c != nil {
		own = setting{c.Namespace, "context " + context.value}
	} else if context.from == InPod {
		own = podNamespace(o.env, podNamespaceFile)
	}
	namespace := first(
		namespaceGiven(o.flags, o.env),
		setting{o.profile.Namespace, fromProfile(o.profile)},
		own,
		setting{defaultNamespace, fromDefault},
	)
	return namespace, checkNamespace(namespace)
}
