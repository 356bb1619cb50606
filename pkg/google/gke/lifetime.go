package gke

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/api/container/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Lifetime returns how long after its start GKE deletes a node of a pool, whatever runs there, as in "24h"; "" for
// nodes that stay.
func Lifetime(p *container.NodePool) string {
	if p.Config == nil {
		return ""
	}
	d, err := time.ParseDuration(p.Config.MaxRunDuration) // GKE's form is "86400s"
	if err != nil || d <= 0 {
		return ""
	}
	return duration.HumanDuration(d)
}

// Lifetimes says which node pools of a cluster have nodes that GKE deletes some time after their start, and how to get
// others; "" if there are none. The Python package keras-kinetic makes such pools. It leaves out pools of flex-start:
// who has made one knows.
func (c Cluster) Lifetimes(found *container.Cluster) string {
	var pools, told []string
	for _, p := range found.NodePools {
		if d := Lifetime(p); d != "" && !p.Config.FlexStart {
			pools, told = append(pools, p.Name), append(told, fmt.Sprintf("the nodes of %s %s after their start", p.Name, d))
		}
	}
	if len(pools) == 0 {
		return ""
	}
	return fmt.Sprintf("GKE deletes %s, with the jobs on them; make node pools without that limit with: kubectl kinetic pool add ACCELERATOR%s; then remove these with: kubectl kinetic pool remove %s%[2]s",
		strings.Join(told, " and "), c.Flags(), strings.Join(pools, " "))
}
