package gke

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"
)

// Kept returns a warning for each setting of an existing pool, zones or labels, that differs from the options, with the
// command that changes it. A pool with a placement policy stays in its zone.
func Kept(c Cluster, is *container.NodePool, o Options) []string {
	var all []string
	update := fmt.Sprintf("change them with: gcloud container node-pools update %s --cluster=%s --location=%s --project=%s ", is.Name, c.Name, c.Location, c.Project)
	has, wants := slices.Sorted(slices.Values(is.Locations)), slices.Sorted(slices.Values(o.Zones))
	if len(wants) > 0 && len(has) > 0 && !slices.Equal(has, wants) {
		zones := strings.Join(wants, ",")
		next := update + "--node-locations=" + zones
		if is.PlacementPolicy != nil {
			next = "choose another --name, or remove that pool with: kubectl kinetic pool remove " + is.Name + c.Flags()
		}
		all = append(all, fmt.Sprintf("node pool %s stays in %s instead of the requested %s; %s", is.Name, strings.Join(has, ","), zones, next))
	}
	labels := map[string]string{}
	if is.Config != nil {
		maps.Copy(labels, is.Config.Labels)
	}
	before := maps.Clone(labels)
	maps.Copy(labels, o.Labels)
	if !maps.Equal(before, labels) {
		all = append(all, fmt.Sprintf("node pool %s doesn't get the requested labels %s; %s--node-labels=%s", is.Name, pairs(o.Labels), update, pairs(labels)))
	}
	return all
}

func pairs(labels map[string]string) string {
	var all []string
	for _, key := range keys(labels) {
		all = append(all, key+"="+labels[key])
	}
	return strings.Join(all, ",")
}
