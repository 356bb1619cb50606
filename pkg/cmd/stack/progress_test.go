package stack

import (
	"bytes"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

// The board counts what the plan lists: also what goes with something else.
func TestBoardCountsWhatGoesWithOthers(t *testing.T) {
	router, nat, network := infra.ID{Kind: infra.KindRouter, Name: "r"}, infra.ID{Kind: infra.KindNAT, Name: "n"}, infra.ID{Kind: infra.KindNetwork, Name: "w"}
	items := []infra.Item{{ID: network}, {ID: router, Needs: []infra.ID{network}}, {ID: nat, Within: router}}
	found := infra.States{}
	for _, i := range items {
		found[i.ID] = infra.State{Exists: true}
	}
	plan := infra.PlanRemoval(items, found, false)
	b := NewProgress(ui.New(&bytes.Buffer{}, time.Now), time.Now, "deleting", plan.Count(infra.Deleted)+plan.Count(infra.Goes))
	b.Parts = plan.Parts(items)
	b.Update(infra.Event{ID: router})
	b.Update(infra.Event{ID: router, Done: true})
	if b.done != 2 || b.total != 3 {
		t.Errorf("%d of %d are done, want 2 of 3", b.done, b.total)
	}
	b.Update(infra.Event{ID: network, Done: true})
	if b.done != b.total {
		t.Errorf("%d of %d are done, want all", b.done, b.total)
	}
}
