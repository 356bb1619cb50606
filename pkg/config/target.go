package config

import (
	"errors"
	"fmt"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Flags are the values of the command line; "" means not given.
type Flags struct {
	Project, Zone, Cluster, Store string
	// Profile names one of the user's profiles.
	Profile string
	// Context, Namespace and Server are kubectl's flags of these names.
	Context, Namespace, Server string
}

// KubeConfig is the part of a clientcmd.ClientConfig that is needed here;
// ConfigFlags.ToRawKubeConfigLoader returns one. Its Context override is ignored.
type KubeConfig interface {
	RawConfig() (clientcmdapi.Config, error)
}

// Need says what the target is for.
type Need struct {
	// Cluster means that a cluster will be contacted, so there must be a context.
	Cluster bool
	// Jobs means that the target is for existing jobs, whose workloads name their stores,
	// so that no other store is required.
	Jobs bool
	// NewProfile means that the target becomes a profile, so that only --profile chooses one that
	// values come from.
	NewProfile bool
	// Local means that the job runs on this machine. Only the store matters then, and the
	// kubeconfig is not read.
	Local bool
}

// Target is where a job runs. Fields that don't apply are empty: everything but the store
// for a local job, and the context if no cluster is contacted and the kubeconfig has none
// that fits.
type Target struct {
	Project, Zone, Cluster string
	// Context is the kubeconfig's context for this call. It may differ from the current
	// context, which stays as it is. It is "" if the cluster is reached without a
	// context; From.Context then says how.
	Context string
	// Assumed means that Context is the current context only for want of another: nothing
	// shows that it leads to the cluster of GKE that the other fields name.
	Assumed   bool
	Namespace string
	// GKE reports whether the cluster is known to be a GKE cluster, where pods get
	// credentials from their node.
	GKE bool
	// Store is gs://BUCKET[/PREFIX] or file:///DIR, without a trailing slash; "" if none
	// is known and none is needed.
	Store string
	// Defaults are those of the cluster's profile.
	Defaults
	// From says where each value comes from.
	From Sources
}

// Known returns the target without the default zone and cluster if the cluster isn't
// known to be a GKE cluster: it has other names, or none.
func (t Target) Known() Target {
	if t.GKE {
		return t
	}
	if t.From.Zone == FromDefault {
		t.Zone, t.From.Zone = "", ""
	}
	if t.From.Cluster == FromDefault {
		t.Cluster, t.From.Cluster = "", ""
	}
	return t
}

// Sources are the origins of a Target's values, as a user knows them: a flag (--project),
// a variable (KINETIC_PROJECT, CLOUDSDK_CORE_PROJECT), "profile NAME", "context NAME",
// "current context", "project, zone and cluster" for the context that they chose, "gcloud
// configuration NAME", or "default". The origin of an empty value is empty, except for a
// cluster that is reached without a context: "--server", or InPod.
type Sources struct {
	Project, Zone, Cluster, Context, Namespace, Store string
}

type setting struct{ value, from string }

// describe returns a setting in the form for messages.
func (s setting) describe() string {
	if strings.HasPrefix(s.from, "--") {
		return s.from + " " + s.value
	}
	return s.value + " of " + s.from
}

// first returns the first setting that has a value.
func first(settings ...setting) setting {
	for _, s := range settings {
		if s.value != "" {
			return s
		}
	}
	return setting{}
}

// FromDefault is the origin of values that nobody has set.
const FromDefault = "default"

// The defaults.
const (
	defaultZone      = "us-central1-a"
	defaultNamespace = "default"
	// DefaultCluster is the name of the cluster of GKE.
	DefaultCluster = "kinetic-cluster"
)

// Resolve takes each value from the first of these that has it: its flag, its variable
// KINETIC_*, the profile, the kubeconfig's context, gcloud's configuration, a default.
// --context takes precedence over the variables. A project, zone and cluster that are not
// those of the current context choose the context of the cluster that they name. Files
// are only read if a value is still missing. All errors are about what the user has set,
// or has to set.
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
	var own Profile
	if o.profileIsAbout(where, context) {
		own = o.profile
	}
	store, err := resolveStore(f, env, own, where)
	if err != nil && (!need.Jobs || !errors.Is(err, ErrNoStore)) {
		return Target{}, err
	}
	return Target{
		Defaults: own.Defaults,
		Project:  where.project.value, Zone: where.zone.value, Cluster: where.cluster.value,
		Context: context.value, Assumed: o.assumed(where, context), Namespace: namespace.value, GKE: o.isGKE(context), Store: store.value,
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
		store = setting{url, FromDefault}
	}
	url, err := checkStore(store.value)
	if err != nil {
		return Target{}, &InvalidError{store.from, fmt.Errorf("%s: %w", store.value, err)}
	}
	return Target{Store: url, From: Sources{Store: store.from}}, nil
}

// namespaceGiven returns the namespace that was set for this call or this shell.
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
		setting{defaultNamespace, FromDefault},
	)
	return namespace, checkNamespace(namespace)
}
