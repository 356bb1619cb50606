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

// InArtifactRegistry reports whether a repository of images is one of Artifact Registry.
func InArtifactRegistry(repository string) bool {
	host, _, _ := strings.Cut(repository, "/")
	return strings.HasSuffix(host, ".pkg.dev")
}

// Region returns the region of a zone. A region, of a regional cluster, is its own.
func Region(zone string) string {
	if strings.Count(zone, "-") < 2 {
		return zone
	}
	return zone[:strings.LastIndex(zone, "-")]
}

// location returns where the images of a zone's or a region's clusters are: in the multi-region if there is one.
func location(zone string) string {
	region := Region(zone)
	if !strings.Contains(region, "-") {
		return "us"
	}
	if continent, _, _ := strings.Cut(region, "-"); slices.Contains([]string{"us", "asia", "europe"}, continent) {
		return continent
	}
	return region
}
