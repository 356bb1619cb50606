package google

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
)

// A pool that is just being removed is made again.
func TestPoolThatIsBeingRemoved(t *testing.T) {
	w := newWorld(t)
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	w = w.again(t)
	w.SetPolls(20)
	i := slices.IndexFunc(w.items, func(i infra.Item) bool { return i.ID.Kind == infra.KindPool })
	name := w.items[i].ID.Name
	path := "projects/acme/locations/" + zone + "/clusters/research/nodePools/" + name
	if _, err := w.project.services.Containers.Projects.Locations.Clusters.NodePools.Delete(path).Context(t.Context()).Do(); err != nil {
		t.Fatal(err)
	}
	w.SetPolls(0)
	plan := infra.MakePlan(w.items, w.read(t), true)
	var text strings.Builder
	if err := plan[i : i+1].Write(&text); err != nil || text.String() != "+ node pool "+name+": is being removed\n" {
		t.Errorf("%v, the plan says %q", err, &text)
	}
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Error(err)
	}
	w.complete(t)
	if p := findPool(w.Cluster(names.Project, names.Zone, names.Cluster), name); p == nil || p.Status != "RUNNING" {
		t.Errorf("the pool is %+v", p)
	}
}
