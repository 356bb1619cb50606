package infra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

func TestUpCreatesEverythingAfterWhatItNeeds(t *testing.T) {
	w, items := newWorld(), List(wanted())
	if err := w.up(t.Context(), items, false); err != nil {
		t.Fatal(err)
	}
	w.complete(t, items)
	if err := w.up(t.Context(), items, false); err != nil {
		t.Fatalf("again: %v", err)
	}
	w.complete(t, items)
}

// Whatever is in something that doesn't exist is not asked for.
func TestReadAsksNothingOfWhatIsAbsent(t *testing.T) {
	w, items := newWorld(), List(wanted())
	found, err := Read(t.Context(), w.resources(items))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if found[item.ID].Exists {
			t.Errorf("%s exists", item.ID)
		}
		if asked := slices.Contains(w.asked, item.ID); asked != (item.Within == ID{}) {
			t.Errorf("%s: asked %t", item.ID, asked)
		}
	}
}

func TestReadReportsAllErrors(t *testing.T) {
	items := []Item{{ID: one(KindNetwork, "a")}, {ID: one(KindBucket, "b")}, {ID: one(KindNAT, "c"), Within: one(KindNetwork, "a")}}
	var list []Resource
	for _, item := range items {
		list = append(list, Resource{item, unreadable{item.ID}})
	}
	_, err := Read(t.Context(), list)
	if want := "network a (and 1 more): refused; not tried: NAT c"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !errors.Is(err, errRefused) {
		t.Errorf("%v doesn't wrap its cause", err)
	}
}

// Errors with the same next command are one, although each service has words of its own.
func TestFailureSaysEachReasonOnce(t *testing.T) {
	because := func(doing, why, next string) error {
		return &transport.Explained{Text: doing + ": " + why, Do: next}
	}
	for want, failed := range map[string][]error{
		"reading a (and 2 more): may not; log in":                  {because("reading a", "may not; log in", "login"), because("reading b", "must not", "login"), because("reading c", "may not; log in", "login")},
		"reading a (and 1 more): it is gone; reading c: it is old": {because("reading a", "it is gone", ""), because("reading b", "it is gone", ""), because("reading c", "it is old", "")},
		"no reason; no reason, too":                                {errors.New("no reason"), errors.New("no reason, too")},
	} {
		if got := (&Failure{Failed: failed}).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

type unreadable struct{ id ID }

func (u unreadable) Get(context.Context) (State, error) {
	return State{}, fmt.Errorf("%s: %w", u.id, errRefused)
}
func (u unreadable) Ensure(context.Context, State) error { return nil }
func (u unreadable) Delete(context.Context) error        { return nil }

// It is cut off before and after each single step, and repeated.
func TestUpCanBeCutOffAnywhereAndRepeated(t *testing.T) {
	items := List(wanted())
	for _, item := range items {
		for when, cut := range map[string]func(w *world, stop func()){
			"before": func(w *world, stop func()) {
				w.ensuring = func(ctx context.Context, id ID) error {
					if id == item.ID {
						stop()
					}
					return ctx.Err()
				}
			},
			"after": func(w *world, stop func()) {
				w.after = func(id ID) error {
					if id != item.ID {
						return nil
					}
					stop()
					return fmt.Errorf("creating %s: %w", id, context.Canceled)
				}
			},
		} {
			t.Run(item.ID.String()+" "+when, func(t *testing.T) {
				w := newWorld()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				cut(w, stop)
				if err := w.up(ctx, items, false); !errors.Is(err, context.Canceled) {
					t.Fatalf("got %v, want that it was cut off", err)
				}
				w.ensuring = func(context.Context, ID) error { return nil }
				w.after = func(ID) error { return nil }
				if err := w.up(t.Context(), items, false); err != nil {
					t.Fatalf("again: %v", err)
				}
				w.complete(t, items)
			})
		}
	}
}

// What depends on a resource that failed is left out; everything else is finished.
func TestUpFinishesWhatDoesNotDependOnAFailure(t *testing.T) {
	items := List(wanted())
	for _, broken := range items {
		t.Run(broken.ID.String(), func(t *testing.T) {
			w := newWorld()
			w.ensuring = func(_ context.Context, id ID) error {
				if id == broken.ID {
					return fmt.Errorf("creating %s: %w", id, errRefused)
				}
				return nil
			}
			err := w.up(t.Context(), items, false)
			var failure *Failure
			if !errors.As(err, &failure) || !errors.Is(err, errRefused) || len(failure.Failed) != 1 {
				t.Fatalf("got %v", err)
			}
			without := dependents(items, broken.ID)
			for _, item := range items {
				if exists := w.exists[item.ID].Exists; exists == without[item.ID] {
					t.Errorf("%s: exists %t", item.ID, exists)
				}
			}
			if len(failure.Skipped) != len(without)-1 {
				t.Errorf("skipped %v, want %d", failure.Skipped, len(without)-1)
			}
		})
	}
}

// dependents returns a resource and all that come after it.
func dependents(items []Item, id ID) map[ID]bool {
	all := map[ID]bool{id: true}
	for _, item := range items {
		for _, before := range item.before() {
			if all[before] {
				all[item.ID] = true
			}
		}
	}
	return all
}

func TestTwoUpAtOnce(t *testing.T) {
	w, items := newWorld(), List(wanted())
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := w.up(t.Context(), items, false); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	w.complete(t, items)
}

// The accounts, the repository and the buckets only wait for the APIs: each waits here until all are
// being created.
func TestUpCreatesIndependentResourcesAtTheSameTime(t *testing.T) {
	w, items := newWorld(), List(wanted())
	apis := one(KindAPIs, names.Project)
	var together sync.WaitGroup
	independent := map[ID]bool{}
	for _, item := range items {
		if slices.Equal(item.before(), []ID{apis}) {
			independent[item.ID] = true
			together.Add(1)
		}
	}
	w.ensuring = func(_ context.Context, id ID) error {
		if independent[id] {
			together.Done()
			together.Wait()
		}
		return nil
	}
	if err := w.up(t.Context(), items, false); err != nil {
		t.Fatal(err)
	}
	if len(independent) < 6 {
		t.Errorf("only %d resources are independent", len(independent))
	}
}

func TestUpLeavesOtherSettingsUnlessToldToReconcile(t *testing.T) {
	w, items := newWorld(), List(wanted())
	bucket := one(KindBucket, names.Jobs())
	w.exists[bucket] = State{Exists: true, Differences: []Difference{{Setting: "lifecycle", Have: "deletes all", Want: "deletes blobs"}}}
	if err := w.up(t.Context(), items, false); err != nil {
		t.Fatal(err)
	}
	if len(w.exists[bucket].Differences) == 0 {
		t.Error("up changed a setting without being told to")
	}
	if err := w.up(t.Context(), items, true); err != nil {
		t.Fatal(err)
	}
	if len(w.exists[bucket].Differences) != 0 {
		t.Error("up didn't change the setting")
	}
}

// What lacks something and differs is completed, and changed as well if that was asked for.
func TestUpCompletesAndChangesAtOnce(t *testing.T) {
	for name, reconcile := range map[string]bool{"to reconcile": true, "not to": false} {
		w, items := newWorld(), List(wanted())
		bucket := one(KindBucket, names.Jobs())
		w.exists[bucket] = State{Exists: true, Missing: []string{"a part"}, Differences: []Difference{{Setting: "lifecycle"}}}
		if err := w.up(t.Context(), items, reconcile); err != nil {
			t.Fatal(err)
		}
		if now := w.exists[bucket]; len(now.Missing) > 0 || (len(now.Differences) == 0) != reconcile {
			t.Errorf("%s: got %+v", name, now)
		}
	}
}

func TestUpTellsWhatHappens(t *testing.T) {
	w, items := newWorld(), List(wanted())[:2]
	list := w.resources(items)
	var told []string
	w.after = func(id ID) error {
		if id.Kind == KindAccount {
			return errRefused
		}
		return nil
	}
	err := Apply(t.Context(), list, States{}, MakePlan(items, States{}, false), func(e Event) {
		told = append(told, fmt.Sprint(e.ID, " ", e.Done, " ", e.Err))
	})
	want := "APIs of project acme false <nil>, APIs of project acme true <nil>, service account kn-research-nodes false <nil>, service account kn-research-nodes true refused"
	if got := strings.Join(told, ", "); got != want || err == nil {
		t.Errorf("told %s (%v), want %s", got, err, want)
	}
}
