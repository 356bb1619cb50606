package infra

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Fate is what becomes of a resource when a cluster is taken down.
type Fate string

// The fates.
const (
	Deleted Fate = "delete"
	Goes    Fate = "goes" // with what it is within
	Stays   Fate = "stays"
	Absent  Fate = "absent"
	MayStay Fate = "may stay" // GKE decides
)

// Removal is what becomes of one resource.
type Removal struct {
	ID   ID   `json:"resource"`
	Fate Fate `json:"action"`
	// Why says why it stays, or may stay.
	Why    string `json:"why,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Removals is what becomes of all resources, in the order of the list.
type Removals []Removal

// PlanRemoval returns what becomes of what was found. force says that also a cluster that `up` has not made
// is deleted; whatever else it has not made always stays.
func PlanRemoval(items []Item, found States, force bool) Removals {
	fates := map[ID]Fate{}
	removals := make(Removals, 0, len(items))
	for _, item := range items {
		s, outer := found[item.ID], fates[item.Within]
		account, granted := item.grantee(found)
		r := Removal{ID: item.ID, Detail: s.Detail}
		switch {
		case s.Taken != nil:
			r.Fate, r.Why = Stays, s.Taken.Error()
		case !s.Exists && !s.Pending:
			r.Fate = Absent
		case outer == Deleted || outer == Goes:
			r.Fate = Goes
		case s.Kept != "":
			r.Fate, r.Why = Stays, s.Kept
		case s.Foreign && (!force || item.ID.Kind != KindCluster):
			r.Fate, r.Why = Stays, s.notMade()
		case granted:
			r.Fate, r.Why = Stays, account.String()+", which stays, has them"
		case item.Stays != "":
			r.Fate, r.Why = Stays, item.Stays
		default:
			r.Fate = Deleted
		}
		fates[item.ID] = r.Fate
		removals = append(removals, r)
	}
	removals.keepNeeded(items, found)
	return removals
}

// grantee returns the account that has what an item grants, if `up` has not made that account.
func (i Item) grantee(found States) (ID, bool) {
	if !slices.Contains([]Kind{KindRoles, KindRepositoryAccess, KindBucketAccess}, i.ID.Kind) {
		return ID{}, false
	}
	for _, id := range i.Needs {
		if id.Kind == KindAccount && found[id].Foreign {
			return id, true
		}
	}
	return ID{}, false
}

// notMade says why something stays that someone else has made, and how to delete it.
func (s State) notMade() string {
	const why = "not made by `kubectl kinetic up`"
	if s.Deletion == "" {
		return why
	}
	return why + "; delete it with: " + s.Deletion
}

// keepNeeded has everything stay that something needs that `up` has not made and that stays.
func (r Removals) keepNeeded(items []Item, found States) {
	needed := map[ID]ID{}
	for i, item := range slices.Backward(items) {
		by, isNeeded := needed[item.ID]
		if isNeeded && r[i].Fate == Deleted {
			r[i].Fate, r[i].Why = Stays, by.String()+", which stays, needs it"
		}
		if r[i].Fate == Stays && (isNeeded || found[item.ID].Foreign) {
			for _, id := range item.before() {
				needed[id] = item.ID
			}
		}
	}
}

// Count returns how many resources have a fate.
func (r Removals) Count(fate Fate) int {
	n := 0
	for _, one := range r {
		if one.Fate == fate {
			n++
		}
	}
	return n
}

// Parts returns how many resources are gone once one of the list is deleted: it, and those that go with it.
func (r Removals) Parts(items []Item) map[ID]int {
	whole, parts := map[ID]ID{}, map[ID]int{}
	for i, item := range items { // each after what it is within
		switch r[i].Fate {
		case Deleted:
			whole[item.ID] = item.ID
		case Goes:
			whole[item.ID] = whole[item.Within]
		default:
			continue
		}
		parts[whole[item.ID]]++
	}
	return parts
}

// KeepsData reports whether buckets stay that --delete-data deletes.
func (r Removals) KeepsData() bool {
	return slices.ContainsFunc(r, func(r Removal) bool { return r.Fate == Stays && (r.Why == staysData || r.Why == staysLogs) })
}

// Write writes what becomes of the resources in words, without those that don't exist.
func (r Removals) Write(w io.Writer) error {
	var text strings.Builder
	for _, one := range r {
		switch one.Fate {
		case Deleted, Goes:
			fmt.Fprintf(&text, "- %s%s\n", one.ID, colon(one.Detail))
		case Stays:
			fmt.Fprintf(&text, "= %s stays: %s\n", one.ID, one.Why)
		case MayStay:
			fmt.Fprintf(&text, "= %s may stay: %s\n", one.ID, one.Why)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func colon(detail string) string {
	if detail == "" {
		return ""
	}
	return ": " + detail
}

// Remove deletes the resources that the plan says, each after those of earlier turns, and after those of
// its own turn that need it.
func Remove(ctx context.Context, list []Resource, plan Removals, tell Told) error {
	deleted := map[ID]bool{}
	for _, r := range plan {
		deleted[r.ID] = r.Fate == Deleted
	}
	backwards := slices.DeleteFunc(slices.Clone(list), func(r Resource) bool { return !deleted[r.ID] })
	slices.Reverse(backwards)
	after := removalOrder(backwards)
	return walk(ctx, backwards, func(i Item) []ID { return after[i.ID] }, func(ctx context.Context, r Resource) error {
		tell(Event{ID: r.ID})
		err := r.Actor.Delete(ctx)
		tell(Event{ID: r.ID, Done: true, Err: err})
		return err
	})
}

// removalOrder returns what each resource is deleted after.
func removalOrder(list []Resource) map[ID][]ID {
	turns, after := map[ID]Turn{}, map[ID][]ID{}
	for _, r := range list {
		turns[r.ID] = r.Turn
	}
	for _, r := range list {
		for _, other := range list {
			if other.Turn < r.Turn {
				after[r.ID] = append(after[r.ID], other.ID)
			}
		}
		for _, id := range r.before() {
			if turns[id] == r.Turn {
				after[id] = append(after[id], r.ID)
			}
		}
	}
	return after
}
