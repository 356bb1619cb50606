package job

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestMatch(t *testing.T) {
	ids := []string{"cpu-eval-1", "cpu-train-1", "cpu-train-12", "l4-train-1"}
	tests := map[string]struct {
		prefix string
		want   string
		err    string
	}{
		"the whole id":                     {prefix: "l4-train-1", want: "l4-train-1"},
		"an id that begins another":        {prefix: "cpu-train-1", want: "cpu-train-1"},
		"a prefix that only one has":       {prefix: "l4", want: "l4-train-1"},
		"a prefix that several have":       {prefix: "cpu-train", err: `job "cpu-train": 2 jobs begin with it: cpu-train-1, cpu-train-12`},
		"a typing mistake":                 {prefix: "cpu-trian-1", err: "the nearest: cpu-train-1"},
		"like nothing":                     {prefix: "zzzzzzzzzzzzzzzzzzzz", err: "jobs list --all shows what there is"},
		"nothing":                          {prefix: "", err: "empty"},
		"something that looks like a path": {prefix: "../cpu-train-1", err: "no such job"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := match(tt.prefix, ids)
			if tt.err == "" {
				if err != nil || got != tt.want {
					t.Fatalf("match(%q) = %q, %v; want %q", tt.prefix, got, err, tt.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want one with %q", err, tt.err)
			}
		})
	}
	full := []string{"cpu-stub-20260101-000000-aaaaaaa", "cpu-stub-20260102-000000-bbbbbbb"}
	if _, err := match("cpu-stbu", full); err == nil || !strings.Contains(err.Error(), "the nearest: cpu-stub-20260102-000000-bbbbbbb") {
		t.Errorf("a typing mistake before the time: %v", err)
	}
	if _, err := match("x", nil); err == nil || !strings.Contains(err.Error(), "there are no jobs here") {
		t.Errorf("without any job: %v", err)
	}
}

func TestPlaceFlag(t *testing.T) {
	tests := map[string]struct {
		handle api.Handle
		flags  string
		want   string
	}{
		"on this machine":                {api.Handle{Backend: api.BackendLocal}, "", " --local"},
		"in a cluster":                   {api.Handle{Backend: api.BackendGKE, Namespace: "ml"}, "", " -n ml"},
		"in one that a flag has chosen":  {api.Handle{Backend: api.BackendGKE, Namespace: "ml"}, " --context=dev", " -n ml --context=dev"},
		"of which no namespace is known": {api.Handle{Backend: api.BackendGKE}, " --context=dev", " --context=dev"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (Place{Flags: tt.flags}).Job(tt.handle).PlaceFlag(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// counting is a store that counts how often its jobs are listed.
type counting struct {
	store.Store
	dirs *int
}

func (c counting) Dirs(ctx context.Context) ([]string, error) {
	*c.dirs++
	return c.Store.Dirs(ctx)
}

func TestAttachAllLooksOnce(t *testing.T) {
	lists, dirs := 0, 0
	p := Place{Store: counting{storeWith(t, map[string]string{"a1/handle.json": ourHandle, "b2/outputs/x": "x"}), &dirs},
		List: func(context.Context, api.Detail) ([]Found, error) {
			lists++
			return []Found{{ID: "c3", Store: "gs://other"}, {ID: "d4", Store: "gs://other"}}, nil
		},
		OpenStore: func(string) (store.Store, error) { return storeWith(t, nil), nil },
	}
	jobs, err := p.AttachAll(t.Context(), []string{"d", "a1", "b", "c3", "a"})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, j := range jobs {
		ids = append(ids, j.ID())
	}
	if want := []string{"d4", "a1", "b2", "c3"}; !slices.Equal(ids, want) {
		t.Errorf("found %v, want %v", ids, want)
	}
	if lists != 1 || dirs != 1 {
		t.Errorf("listed %d times in the cluster and %d times in the store, want once each", lists, dirs)
	}
	if jobs[0].Store != jobs[3].Store {
		t.Error("a store was opened twice")
	}
	if _, err := p.AttachAll(t.Context(), []string{"a1", "nothing"}); err == nil {
		t.Error("a job that is not there: no error")
	}
}
