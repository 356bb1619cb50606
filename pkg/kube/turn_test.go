package kube

import (
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A Workload of Kueue is found by its owner's UID: names come back.
func TestInventoryFindsTheJobOfATurn(t *testing.T) {
	s := recorded(t, "testdata/why/queue-set-waits.yaml")
	turn := s.Turns[0]
	n := newInventory(api.TellReasons, time.Now)
	want := n.putOwner(owner{set: s.Set})
	if got, ok := n.put(&turn); !ok || got != want || len(n.situation(want).Turns) != 1 {
		t.Errorf("it is of %v, %d of the job; want %v, 1", got, len(n.situation(want).Turns), want)
	}
	older := *turn.DeepCopyObject().(*Turn)
	older.UID, older.OwnerReferences[0].UID = "2", "of-yesterday"
	if got, ok := n.put(&older); ok || len(n.situation(want).Turns) != 1 {
		t.Errorf("that of yesterday's namesake is of %v, and there are %d; want none and 1", got, len(n.situation(want).Turns))
	}
	if got, ok := n.drop(&turn); !ok || got != want || len(n.situation(want).Turns) != 0 {
		t.Errorf("dropped, it was of %v, %d of the job; want %v, 0", got, len(n.situation(want).Turns), want)
	}
	n.put(&turn)
	if n.forget((&Client{}).turns()); len(n.situation(want).Turns) != 0 {
		t.Error("forgotten, and still there")
	}
}

func TestAListKeepsTheTurnsOfJobsAlone(t *testing.T) {
	turn := recorded(t, "testdata/why/queue-set-waits.yaml").Turns[0]
	if trimmed(&turn) == nil {
		t.Error("that of a set is dropped")
	}
	for i := range turn.OwnerReferences {
		turn.OwnerReferences[i].Name = "web"
	}
	if trimmed(&turn) != nil {
		t.Error("that of other work is kept")
	}
}

func TestOnlyATurnOfTheWorkloadIsAboutIt(t *testing.T) {
	s := recorded(t, "testdata/why/queue-set-waits.yaml")
	keep := about(&s.Set.ObjectMeta)
	if keep(&s.Turns[0]) == nil {
		t.Error("its own is dropped")
	}
	s.Turns[0].OwnerReferences[0].UID = "of-yesterday"
	if keep(&s.Turns[0]) != nil {
		t.Error("another's is kept")
	}
}
