package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Prefix begins the names of what belongs to a cluster in Google Cloud.
const Prefix = "kn-"

// Bucket returns the name of the bucket that is the store of a cluster, unless another is named.
func Bucket(project, cluster string) string { return project + "-" + Prefix + cluster + "-jobs" }

// Repository returns the place of a cluster's images in Artifact Registry. All its images have one
// name, so that each layer is sent once. It is "" without a project or cluster.
func Repository(project, zone, cluster string) string {
	if project == "" || cluster == "" {
		return ""
	}
	return fmt.Sprintf("%s-docker.pkg.dev/%s/%s%s/env", ImageLocation(zone), strings.Replace(project, ":", "/", 1), Prefix, cluster)
}

// Region returns the region of a zone. A region, of a regional cluster, is its own.
func Region(zone string) string {
	if strings.Count(zone, "-") < 2 {
		return zone
	}
	return zone[:strings.LastIndex(zone, "-")]
}

// ByRegion returns the zones of each region as "us-central1-a,b", those of the first region first.
func ByRegion(zones []string, first string) []string {
	letters := map[string]string{}
	for _, z := range zones {
		region := Region(z)
		if letters[region] != "" {
			letters[region] += ","
		}
		letters[region] += strings.TrimPrefix(z, region+"-")
	}
	var all []string
	for _, region := range slices.Sorted(maps.Keys(letters)) {
		text := region + "-" + letters[region]
		if region == first {
			all = slices.Insert(all, 0, text)
		} else {
			all = append(all, text)
		}
	}
	return all
}

// ImageLocation returns where the images of a zone's or a region's clusters are: in the multi-region if
// there is one.
func ImageLocation(zone string) string {
	region := Region(zone)
	if !strings.Contains(region, "-") {
		return "us"
	}
	if continent, _, _ := strings.Cut(region, "-"); slices.Contains([]string{"us", "asia", "europe"}, continent) {
		return continent
	}
	return region
}
