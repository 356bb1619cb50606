package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// fromPlace is the origin of a context that was found by its cluster.
const fromPlace = "project, zone and cluster"

// fromCurrent is the origin of a context that nobody has named.
const fromCurrent = "current context"

// place names a GKE cluster, or a part of its name.
type place struct{ project, zone, cluster setting }

// over fills the empty values of p from other.
func (p place) over(other place) place {
	return place{first(p.project, other.project), first(p.zone, other.zone), first(p.cluster, other.cluster)}
}

func (p place) is(other place) bool {
	return p.project.value == other.project.value && p.zone.value == other.zone.value && p.cluster.value == other.cluster.value
}

// agrees reports whether other has every value that p has.
func (p place) agrees(other place) bool { return p.over(other).is(other) }

func (p place) whole() bool {
	return p.project.value != "" && p.zone.value != "" && p.cluster.value != ""
}

func (p place) settings() []setting { return []setting{p.project, p.zone, p.cluster} }

// kubeName returns gcloud's name for the cluster in a kubeconfig.
func (p place) kubeName() string {
	return Names{Project: p.project.value, Zone: p.zone.value, Cluster: p.cluster.value}.Context()
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

// placeGiven returns the place that was set for this call or this shell.
func placeGiven(f Flags, env func(string) string) place { return placeOfFlags(f).over(placeOfEnv(env)) }

func placeOfProfile(p Profile) place {
	from := fromProfile(p)
	return place{setting{p.Project, from}, setting{p.Zone, from}, setting{p.Cluster, from}}
}

func defaultPlace() place {
	return place{zone: setting{defaultZone, FromDefault}, cluster: setting{DefaultCluster, FromDefault}}
}

// placeOfContext parses gke_PROJECT_ZONE_CLUSTER, gcloud's name for a context and its
// cluster; in a renamed context, the cluster still has it. The place is empty for other
// clusters.
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

// isGKE reports whether a context's cluster is a GKE cluster: according to its name or
// address, or because a flag names the project, zone or cluster. Without a context, the
// place alone counts, which is always one of GKE.
func (o origins) isGKE(context setting) bool {
	if context == (setting{}) || placeOfFlags(o.flags) != placeOfFlags(Flags{}) || placeOfContext(o.config, context.value) != (place{}) {
		return true
	}
	server := o.flags.Server
	if c := o.config.Contexts[context.value]; server == "" && c != nil && o.config.Clusters[c.Cluster] != nil {
		server = o.config.Clusters[c.Cluster].Server
	}
	address, err := url.Parse(server)
	return err == nil && strings.HasSuffix(address.Hostname(), dnsEndpoint)
}

// dnsEndpoint ends the host names of GKE's API servers.
const dnsEndpoint = ".gke.goog"

// locate returns the cluster, and the context through which it is reached.
func (o origins) locate() (place, setting, error) {
	if o.flags.Context != "" {
		where, err := o.locateGiven()
		return where, setting{o.flags.Context, "--context"}, err
	}
	if o.profile.Context != "" && placeGiven(o.flags, o.env) == (place{}) {
		return o.locateOfProfile()
	}
	current, err := o.current()
	if err != nil {
		return place{}, setting{}, err
	}
	named, there := o.named(), placeOfContext(o.config, current.value)
	where, err := o.complete(named.over(there))
	if err != nil {
		return place{}, setting{}, err
	}
	// A project alone only determines the store, not a cluster, if the current context is
	// not known to be a GKE cluster's.
	storeOnly := there == (place{}) && named.zone.value == "" && named.cluster.value == ""
	if current.from != "" && (named.agrees(there) || storeOnly) {
		return where, current, nil
	}
	context, err := o.contextOf(where, named)
	return where, context, err
}

// assumed reports whether context is the current one and its name doesn't show that it
// leads to the cluster.
func (o origins) assumed(where place, context setting) bool {
	return context.value != "" && context.from == fromCurrent && !placeOfContext(o.config, context.value).is(where)
}

// locateOfProfile is locate with a profile that names a context.
func (o origins) locateOfProfile() (place, setting, error) {
	context := setting{o.profile.Context, fromProfile(o.profile)}
	if o.config.Contexts[context.value] == nil && (o.need.Cluster || len(o.config.Contexts) > 0) {
		return place{}, setting{}, missingContext(o.config, setting{context.value, context.from + ": context"})
	}
	where, err := o.complete(placeOfContext(o.config, context.value).over(placeOfProfile(o.profile)))
	return where, context, err
}

// current returns how to reach the cluster if none is named. If there is no way, the
// result has no origin.
func (o origins) current() (setting, error) {
	name := setting{o.config.CurrentContext, fromCurrent}
	switch {
	case o.config.Contexts[name.value] != nil:
		return name, nil
	case o.flags.Server != "":
		return setting{from: "--server"}, nil
	case name.value == "" && len(o.config.Contexts) == 0 && inPod(o.env):
		return setting{from: InPod}, nil
	case name.value != "" && o.need.Cluster && o.named() == (place{}):
		return setting{}, missingContext(o.config, name)
	}
	return setting{}, nil
}

// locateGiven is locate with a --context, which no flag may contradict.
func (o origins) locateGiven() (place, error) {
	name := o.flags.Context
	if o.config.Contexts[name] == nil {
		return place{}, missingContext(o.config, setting{name, "--context"})
	}
	flags, own, there := placeOfFlags(o.flags), placeOfProfile(o.profile), placeOfContext(o.config, name)
	if there != (place{}) {
		for i, s := range flags.over(own).settings() {
			if other := there.settings()[i].value; s.value != "" && s.value != other {
				return place{}, fmt.Errorf("%s contradicts --context %s, which has %s: omit one of them", s.describe(), name, other)
			}
		}
	}
	return o.complete(flags.over(there).over(placeOfEnv(o.env)).over(own))
}

// contextOf returns the context for a cluster, empty if there is none and none is needed.
func (o origins) contextOf(where, named place) (setting, error) {
	names := slices.Sorted(maps.Keys(o.config.Contexts))
	// gcloud's own name first, then renamed contexts.
	if own := where.kubeName(); o.config.Contexts[own] != nil {
		names = slices.Insert(names, 0, own)
	}
	var near []string
	for _, name := range names {
		there := placeOfContext(o.config, name)
		switch {
		case there == (place{}):
		case where.is(there):
			return setting{name, fromPlace}, nil
		case named.agrees(there):
			near = append(near, name)
		}
	}
	if !o.need.Cluster {
		return setting{}, nil
	}
	return setting{}, o.noContextFor(where, named, near)
}

// ErrNoContext is the error of Resolve if nothing chooses a cluster.
var ErrNoContext error = noContext{}

type noContext struct {
	absent string // a file that KUBECONFIG names and that does not exist, or ""
}

func (n noContext) Error() string {
	why := ""
	if n.absent != "" {
		why = ", and KUBECONFIG names " + n.absent + ", which does not exist"
	}
	return "the kubeconfig has no current context" + why + ": choose or create a cluster with " + n.Next() + ", name one with --context, or use this machine with --local"
}

// Next returns the command to type. pkg/cmd/cli uses it.
func (noContext) Next() string { return "kubectl kinetic init" }

// Is makes all of them ErrNoContext.
func (noContext) Is(target error) bool { return target == ErrNoContext }

// absentFile returns the first file that KUBECONFIG names and that does not exist, "" if there is none.
func absentFile(env func(string) string) string {
	for _, name := range filepath.SplitList(env("KUBECONFIG")) {
		if _, err := os.Stat(name); name != "" && errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
	return ""
}

func (o origins) noContextFor(where, named place, near []string) error {
	if named == (place{}) {
		return noContext{absentFile(o.env)}
	}
	hint := ""
	if len(near) > 0 {
		hint = fmt.Sprintf("; or did you mean --context %s?", strings.Join(near, " or "))
	}
	if where.project.value == "" {
		return fmt.Errorf("the kubeconfig has no context for cluster %s in %s, and its project is not known: set --project or KINETIC_PROJECT%s",
			where.cluster.value, where.zone.value, hint)
	}
	name := where.kubeName()
	if where.cluster.from == fromProfile(o.profile) {
		// Nobody typed it: say where it comes from, and what overrides it.
		name += ", which is the cluster of " + where.cluster.from
		hint += "; --context names another"
	}
	return fmt.Errorf("the kubeconfig has no context %s: get one with `gcloud container clusters get-credentials %s %s %s --project %s`%s",
		name, where.cluster.value, locationFlag(where.zone.value), where.zone.value, where.project.value, hint)
}

// locationFlag returns gcloud's flag for a zone, us-central1-a, or a region, us-central1.
func locationFlag(location string) string {
	if strings.Count(location, "-") == 1 {
		return "--region"
	}
	return "--zone"
}

// missingContext returns the error for a named context that doesn't exist.
func missingContext(config clientcmdapi.Config, named setting) error {
	names := slices.Sorted(maps.Keys(config.Contexts))
	message := fmt.Sprintf("%s %s: the kubeconfig has no context of that name", named.from, named.value)
	if hint := human.DidYouMean(named.value, names); hint != "" {
		return fmt.Errorf("%s: %s", message, hint)
	}
	if len(names) == 0 {
		return fmt.Errorf("%s, nor any other: name the file with --kubeconfig, or get one with `gcloud container clusters get-credentials`", message)
	}
	return fmt.Errorf("%s; list them with `kubectl config get-contexts`", message)
}
