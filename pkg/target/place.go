package target

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
)

// fromPlace is the origin of a context that was found by its cluster.
const fromPlace = "project, zone and cluster"

// place names a GKE cluster, or a part of that.
type place struct{ project, zone, cluster setting }

// over takes from other what p does not say.
func (p place) over(other place) place {
	return place{first(p.project, other.project), first(p.zone, other.zone), first(p.cluster, other.cluster)}
}

// is tells whether the two name the same cluster.
func (p place) is(other place) bool {
	return p.project.value == other.project.value && p.zone.value == other.zone.value && p.cluster.value == other.cluster.value
}

// agrees tells whether other has everything that p says.
func (p place) agrees(other place) bool { return p.over(other).is(other) }

func (p place) settings() []setting { return []setting{p.project, p.zone, p.cluster} }

// kubeName is what gcloud calls the cluster in a kubeconfig.
func (p place) kubeName() string {
	return strings.Join([]string{"gke", p.project.value, p.zone.value, p.cluster.value}, "_")
}

func placeOfFlags(f Flags) place {
	return place{setting{f.Project, "--project"}, setting{f.Zone, "--zone"}, setting{f.Cluster, "--cluster"}}
}

func placeOfEnv(env func(string) string) place {
	return place{
		setting{env("KINETIC_PROJECT"), "KINETIC_PROJECT"},
		setting{env("KINETIC_ZONE"), "KINETIC_ZONE"},
		setting{env("KINETIC_CLUSTER"), "KINETIC_CLUSTER"},
	}
}

// placeOf is what somebody has set on purpose.
func placeOf(f Flags, env func(string) string) place { return placeOfFlags(f).over(placeOfEnv(env)) }

func defaultPlace() place {
	return place{zone: setting{defaultZone, fromDefault}, cluster: setting{defaultCluster, fromDefault}}
}

// placeOfContext reads gke_PROJECT_ZONE_CLUSTER, which gcloud gives to a context
// and to its cluster; a context that was renamed still has it in the latter.
// It is empty for other clusters.
func placeOfContext(config clientcmdapi.Config, name string) place {
	c := config.Contexts[name]
	if c == nil {
		return place{}
	}
	from := "context " + name
	for _, text := range []string{name, c.Cluster} {
		parts := strings.Split(text, "_")
		if len(parts) == 4 && parts[0] == "gke" {
			return place{setting{parts[1], from}, setting{parts[2], from}, setting{parts[3], from}}
		}
	}
	return place{}
}

// locate finds the cluster, and the context through which it is reached.
func locate(f Flags, env func(string) string, config clientcmdapi.Config, need Need) (place, setting, error) {
	if f.Context != "" {
		where, err := locateGiven(f, env, config)
		return where, setting{f.Context, "--context"}, err
	}
	current := setting{config.CurrentContext, "current context"}
	if config.Contexts[current.value] == nil {
		if need.Cluster && current.value != "" && placeOf(f, env) == (place{}) {
			return place{}, setting{}, missingContext(config, current)
		}
		current = setting{}
	}
	there := placeOfContext(config, current.value)
	named := placeOf(f, env)
	where := named.over(there).over(defaultPlace())
	switch {
	case current.value != "" && named.agrees(there):
		return where, current, nil
	case current.value != "" && there == (place{}) && named.zone.value == "" && named.cluster.value == "":
		// A project alone names no cluster, only the store, where the current
		// context is not known to be one of GKE.
		return where, current, nil
	}
	context, err := contextOf(where, named, config, need)
	return where, context, err
}

// locateGiven is locate with a --context, which no flag may contradict.
func locateGiven(f Flags, env func(string) string, config clientcmdapi.Config) (place, error) {
	if config.Contexts[f.Context] == nil {
		return place{}, missingContext(config, setting{f.Context, "--context"})
	}
	flags, there := placeOfFlags(f), placeOfContext(config, f.Context)
	if there != (place{}) && !flags.agrees(there) {
		for i, s := range flags.settings() {
			if other := there.settings()[i].value; s.value != "" && s.value != other {
				return place{}, fmt.Errorf("%s %s contradicts --context %s, which has %s: leave one of them out", s.from, s.value, f.Context, other)
			}
		}
	}
	return flags.over(there).over(placeOfEnv(env)).over(defaultPlace()), nil
}

// contextOf is the context for a cluster, empty where there is none and none is
// needed.
func contextOf(where, named place, config clientcmdapi.Config, need Need) (setting, error) {
	names := slices.Sorted(maps.Keys(config.Contexts))
	// gcloud's own name first, then those that somebody has renamed.
	if own := where.kubeName(); config.Contexts[own] != nil {
		names = slices.Insert(names, 0, own)
	}
	var near []string
	for _, name := range names {
		there := placeOfContext(config, name)
		switch {
		case there == (place{}):
		case where.is(there):
			return setting{name, fromPlace}, nil
		case named.agrees(there):
			near = append(near, name)
		}
	}
	if !need.Cluster {
		return setting{}, nil
	}
	return setting{}, noContextFor(where, named, near)
}

// noContextFor says how to get a context for a cluster.
func noContextFor(where, named place, near []string) error {
	if named == (place{}) {
		return errors.New("the kubeconfig has no current context: choose one with --context, or name a cluster with --project, --zone and --cluster")
	}
	hint := ""
	if len(near) > 0 {
		hint = fmt.Sprintf("; or did you mean --context %s?", strings.Join(near, " or "))
	}
	if where.project.value == "" {
		return fmt.Errorf("the kubeconfig has no context for cluster %s in %s, and its project is not known: set --project or KINETIC_PROJECT%s",
			where.cluster.value, where.zone.value, hint)
	}
	return fmt.Errorf("the kubeconfig has no context %s: get one with `gcloud container clusters get-credentials %s %s %s --project %s`%s",
		where.kubeName(), where.cluster.value, locationFlag(where.zone.value), where.zone.value, where.project.value, hint)
}

// locationFlag is gcloud's flag for a zone, us-central1-a, or a region, us-central1.
func locationFlag(location string) string {
	if strings.Count(location, "-") == 1 {
		return "--region"
	}
	return "--zone"
}

// missingContext says that a context somebody named does not exist.
func missingContext(config clientcmdapi.Config, named setting) error {
	names := slices.Sorted(maps.Keys(config.Contexts))
	message := fmt.Sprintf("%s %s: the kubeconfig has no context of this name", named.from, named.value)
	if hint := nearest.Sentence(named.value, names); hint != "" {
		return fmt.Errorf("%s: %s", message, hint)
	}
	if len(names) == 0 {
		return fmt.Errorf("%s, nor any other: name the file with --kubeconfig, or get one with `gcloud container clusters get-credentials`", message)
	}
	return fmt.Errorf("%s; `kubectl config get-contexts` lists those it has", message)
}
