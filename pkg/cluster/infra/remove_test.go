package infra

import (
	"errors"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"slices"
	"strings"
	"testing"
)

func TestDownDeletesInReverse(t *testing.T) {
	w, items := newWorld(), List(wanted())
	if err := w.up(t.Context(), items, false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.down(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		_, left := w.exists[item.ID]
		if want := item.ID.Kind == KindAPIs || item.ID.Kind == KindBucket; left != want {
			t.Errorf("%s: it is there: %v, want %v", item.ID, left, want)
		}
	}
	for _, id := range w.deleted {
		if id.Kind == KindPool || id.Kind == KindNamespace {
			t.Errorf("%s was deleted, although it goes with the cluster", id)
		}
	}
}

func TestDownDeletesDataOnlyIfTold(t *testing.T) {
	w, items := newWorld(), List(wanted())
	if err := w.up(t.Context(), items, false); err != nil {
		t.Fatal(err)
	}
	with := wanted()
	with.DeleteData = true
	if _, err := w.down(t.Context(), List(with)); err != nil {
		t.Fatal(err)
	}
	for id := range w.exists {
		if id.Kind != KindAPIs {
			t.Errorf("%s is still there", id)
		}
	}
}

// An up that was cut off after each number of steps can be taken down.
func TestDownWorksAfterHalfAnUp(t *testing.T) {
	items := List(wanted())
	for i := range items {
		w := newWorld()
		for _, item := range items[:i] {
			w.exists[item.ID] = State{Exists: true}
		}
		if _, err := w.down(t.Context(), items); err != nil {
			t.Fatalf("after %d steps: %v", i, err)
		}
		for id := range w.exists {
			if id.Kind != KindAPIs && id.Kind != KindBucket {
				t.Errorf("after %d steps, %s is still there", i, id)
			}
		}
	}
}

// What a resource that can't be deleted needs stays; the rest goes.
func TestDownFinishesWhatDoesNotDependOnAFailure(t *testing.T) {
	w, items := newWorld(), List(wanted())
	if err := w.up(t.Context(), items, false); err != nil {
		t.Fatal(err)
	}
	router := one(KindRouter, names.Router())
	w.deleting = func(id ID) error {
		if id == router {
			return errRefused
		}
		return nil
	}
	_, err := w.down(t.Context(), items)
	if !errors.Is(err, errRefused) {
		t.Fatalf("got %v", err)
	}
	if !w.exists[router].Exists || !w.exists[one(KindNetwork, names.Network())].Exists {
		t.Error("the router's network was deleted before the router")
	}
	if w.exists[one(KindAccount, names.Account(config.BuildsAccount))].Exists || w.exists[one(KindCluster, names.Cluster)].Exists {
		t.Error("an account or the cluster is still there")
	}
	if !w.exists[one(KindRepository, names.Repository())].Exists { // it says who has made the router
		t.Error("the repository was deleted before the router")
	}
	w.deleting = func(ID) error { return nil }
	if _, err := w.down(t.Context(), items); err != nil {
		t.Fatalf("again: %v", err)
	}
	if w.exists[router].Exists || w.exists[one(KindRepository, names.Repository())].Exists {
		t.Error("the router or the repository is still there")
	}
}

// A cluster that can't be deleted keeps all that it needs to work.
func TestDownDeletesTheClusterFirst(t *testing.T) {
	w, items := newWorld(), List(wanted())
	if err := w.up(t.Context(), items, false); err != nil {
		t.Fatal(err)
	}
	w.deleting = func(id ID) error {
		if id.Kind == KindCluster {
			return errRefused
		}
		return nil
	}
	if _, err := w.down(t.Context(), items); !errors.Is(err, errRefused) {
		t.Fatalf("got %v", err)
	}
	if len(w.deleted) > 0 {
		t.Errorf("deleted %v", w.deleted)
	}
}

// The profile and the context say which cluster is meant when an interrupted down is repeated.
func TestDownKeepsTheProfileUntilAllIsDeleted(t *testing.T) {
	items := List(wanted())
	profile, context := one(KindProfile, "research"), one(KindContext, names.Context())
	for _, broken := range items {
		if broken.ID == profile || broken.ID == context {
			continue
		}
		w := newWorld()
		if err := w.up(t.Context(), items, false); err != nil {
			t.Fatal(err)
		}
		w.deleting = func(id ID) error {
			if id == broken.ID {
				return errRefused
			}
			return nil
		}
		plan, err := w.down(t.Context(), items)
		i := slices.IndexFunc(plan, func(r Removal) bool { return r.ID == broken.ID })
		failed := plan[i].Fate == Deleted
		if (err != nil) != failed || w.exists[profile].Exists != failed || w.exists[context].Exists != failed {
			t.Errorf("%s is not deleted: %v, and then the files are %v %v", broken.ID, err, w.exists[profile], w.exists[context])
		}
	}
}

func TestRemovalInWords(t *testing.T) {
	cluster := one(KindCluster, "research")
	items := []Item{
		{ID: one(KindBucket, "acme-kn-research-jobs"), Stays: staysData},
		{ID: cluster},
		{ID: one(KindNamespace, "ml"), Within: cluster},
		{ID: one(KindNetwork, "kn-research")},
	}
	plan := PlanRemoval(items, States{
		items[0].ID: {Exists: true}, cluster: {Exists: true, Detail: "3 nodes"}, items[2].ID: {Exists: true},
	}, false)
	var words strings.Builder
	if err := plan.Write(&words); err != nil {
		t.Fatal(err)
	}
	want := `= bucket acme-kn-research-jobs stays: it has the results of jobs; delete it with --delete-data
- cluster research: 3 nodes
- namespace ml
`
	if words.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", words.String(), want)
	}
	if plan.Count(Goes) != 1 || plan.Count(Absent) != 1 {
		t.Errorf("got %v", plan)
	}
}

// What up has not made stays, with what it needs, also if down is forced. Force is about the cluster alone.
func TestDownLeavesWhatOthersHaveMade(t *testing.T) {
	network, router, nat := one(KindNetwork, "kn-research"), one(KindRouter, "kn-research-router"), one(KindNAT, "kn-research-nat")
	store, access := one(KindBucket, "acme-kn-research-jobs"), one(KindBucketAccess, "acme-kn-research-jobs")
	this := one(KindCluster, "research")
	items := []Item{
		{ID: store}, {ID: access, Within: store},
		{ID: network}, {ID: router, Needs: []ID{network}}, {ID: nat, Within: router},
		{ID: this, Needs: []ID{network}},
	}
	ours, others := State{Exists: true}, State{Exists: true, Foreign: true}
	for name, tt := range map[string]struct {
		found States
		force bool
		want  string
	}{
		"all ours":        {States{store: ours, access: ours, network: ours, router: ours, nat: ours}, false, "delete goes delete delete goes absent"},
		"a bucket":        {States{store: others, access: ours, network: ours}, false, "stays delete delete absent absent absent"},
		"a network":       {States{network: others, router: ours, nat: ours}, false, "absent absent stays delete goes absent"},
		"a router":        {States{network: ours, router: others, nat: others}, false, "absent absent stays stays stays absent"},
		"a NAT":           {States{network: ours, router: ours, nat: others}, false, "absent absent delete delete goes absent"},
		"all, with force": {States{store: others, access: others, network: others, router: others, nat: others}, true, "stays stays stays stays stays absent"},
		"a cluster":       {States{network: ours, this: others}, false, "absent absent stays absent absent stays"},
		"that, by force":  {States{network: ours, this: others}, true, "absent absent delete absent absent delete"},
	} {
		t.Run(name, func(t *testing.T) {
			var fates []string
			for _, r := range PlanRemoval(items, tt.found, tt.force) {
				fates = append(fates, string(r.Fate))
				if (r.Fate == Stays) == (r.Why == "") {
					t.Errorf("%s %s: %q", r.ID, r.Fate, r.Why)
				}
			}
			if got := strings.Join(fates, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// An account of someone else keeps what it may do: that may have been granted before up came.
func TestDownLeavesWhatAccountsOfOthersMayDo(t *testing.T) {
	w := wanted()
	w.DeleteData = true
	items, found := List(w), States{}
	for _, item := range items {
		found[item.ID] = State{Exists: true}
	}
	nodes, jobs := one(KindAccount, names.Account(config.NodesAccount)), one(KindAccount, names.Account(config.JobsAccount))
	repository, store, sources := one(KindRepository, names.Repository()), one(KindBucket, names.Jobs()), one(KindBucket, names.Builds())
	for _, id := range []ID{nodes, jobs, store, sources} {
		found[id] = State{Exists: true, Foreign: true}
	}
	fates := map[ID]Removal{}
	for _, r := range PlanRemoval(items, found, true) {
		fates[r.ID] = r
	}
	for id, want := range map[ID]Fate{
		one(KindRoles, nodes.Name):                 Stays,
		one(KindBucketAccess, store.Name):          Stays,   // of the jobs' account
		one(KindBucketAccess, sources.Name):        Deleted, // of that of builds, which is ours
		one(KindRepositoryAccess, repository.Name): Goes,    // with the repository, which is ours
	} {
		if got := fates[id]; got.Fate != want {
			t.Errorf("%s: %s, want %s", id, got.Fate, want)
		}
	}
	if got, want := fates[one(KindRoles, nodes.Name)].Why, "service account kn-research-nodes, which stays, has them"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
