package environment

import (
	"fmt"
	"slices"
	"strings"
)

// Repository returns the place of a cluster's images in Artifact Registry. All its images have one
// name, so that each layer is sent once. It is "" without a project or cluster.
func Repository(project, zone, cluster string) string {
	if project == "" || cluster == "" {
		return ""
	}
	return fmt.Sprintf("%s-docker.pkg.dev/%s/kn-%s/env", location(zone), strings.Replace(project, ":", "/", 1), cluster)
}

// location returns where the images of a zone's or a region's clusters are: in the multi-region if there is one.
func location(zone string) string {
	region := zone
	switch strings.Count(zone, "-") {
	case 0:
		return "us"
	case 1: // a region, of a regional cluster
	default:
		region = zone[:strings.LastIndex(zone, "-")]
	}
	if continent, _, _ := strings.Cut(region, "-"); slices.Contains([]string{"us", "asia", "europe"}, continent) {
		return continent
	}
	return region
}
