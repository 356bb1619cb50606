package prune_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/prune"
)

// A tree that an interrupted upload left has no record. It goes when the last of it is old.
func TestTreesWithoutARecord(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		p.job("a1", "", `,"data":[{"name":"x","access":"fuse","set":"`+sum("named")+`","path":"/kinetic-data/x"}]`)
		old := 2 * p.store.PruneAge()
		p.add(store.DataTree(sum("named"))+"a", "a", old)
		p.add(store.DataTree(sum("being sent"))+"a", "a", old)
		p.add(store.DataTree(sum("being sent"))+"d/b", "b", p.store.PruneAge()/2)
		stay := names(t, p.store)
		p.add(store.DataTree(sum("left"))+"a", "a", old)
		p.add(store.DataTree(sum("left"))+"d/b", "b", old)
		plan := find(t, p.store)
		if plan.Objects != 2 {
			t.Errorf("it found %d objects, want 2", plan.Objects)
		}
		if done, err := plan.Delete(t.Context(), true, func(prune.Done) {}); err != nil || done.Objects != 2 {
			t.Errorf("deleted %+v: %v", done, err)
		}
		if diff := cmp.Diff(stay, names(t, p.store)); diff != "" {
			t.Errorf("what stays (-want +got)\n%s", diff)
		}
	})
}

// An empty directory is an object whose name ends in a slash.
func TestEmptyDirectoriesOfTrees(t *testing.T) {
	p := inBucket(t)
	p.add(store.DataRecord(sum("x")), "{}", 2*p.store.PruneAge())
	p.add(store.DataTree(sum("x"))+"empty/", "", 2*p.store.PruneAge())
	if done, err := find(t, p.store).Delete(t.Context(), true, func(prune.Done) {}); err != nil || done.Objects != 2 {
		t.Errorf("deleted %+v: %v", done, err)
	}
	if left := names(t, p.store); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// watched is a store that notes in which order objects are deleted, and fails at the second.
type watched struct {
	store.Store
	deleted []string
}

func (w *watched) DeleteListed(ctx context.Context, o store.Object) (bool, error) {
	if len(w.deleted) > 0 {
		return false, errors.New("503")
	}
	w.deleted = append(w.deleted, o.Name)
	return w.Store.DeleteListed(ctx, o)
}

// Without its record nobody relies on a tree that is deleted in part.
func TestTheRecordOfATreeGoesFirst(t *testing.T) {
	p := inDirectory(t)
	for _, name := range []string{store.DataTree(sum("x")) + "!", store.DataRecord(sum("x"))} {
		p.add(name, "x", 2*p.store.PruneAge())
	}
	w := &watched{Store: p.store}
	plan, err := prune.Find(t.Context(), w, time.Hour, func(prune.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Delete(t.Context(), true, func(prune.Done) {}); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("error %v, want 503", err)
	}
	if !slices.Equal(w.deleted, []string{store.DataRecord(sum("x"))}) {
		t.Errorf("deleted %q, want the record", w.deleted)
	}
}
