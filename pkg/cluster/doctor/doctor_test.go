package doctor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

func finds(f Finding) func(context.Context) Finding {
	return func(context.Context) Finding { return f }
}

func hangs(ctx context.Context) Finding {
	<-ctx.Done()
	<-make(chan struct{}) // ignores its context
	return Finding{}
}

func TestRun(t *testing.T) {
	tests := map[string]struct {
		checks []Check
		want   []Finding
	}{
		"each by itself": {
			[]Check{{Name: "a", Within: time.Second, Run: finds(Good("here"))}, {Name: "b", Within: time.Second, Run: finds(Bad("make b", "gone"))}},
			[]Finding{{State: OK, Detail: "here"}, {State: Wrong, Detail: "gone", Fix: "make b"}},
		},
		"what it needs is there": {
			[]Check{{Name: "a", Within: time.Second, Run: finds(Good("here"))}, {Name: "b", Needs: []string{"a"}, Within: time.Second, Run: finds(Good("too"))}},
			[]Finding{{State: OK, Detail: "here"}, {State: OK, Detail: "too"}},
		},
		"what it needs doesn't matter here": {
			[]Check{{Name: "a", Within: time.Second, Run: finds(Skip("not on GKE"))}, {Name: "b", Needs: []string{"a"}, Within: time.Second, Run: finds(Good("here"))}},
			[]Finding{{State: Skipped, Detail: "not on GKE"}, {State: OK, Detail: "here"}},
		},
		"what it needs is wrong": {
			[]Check{{Name: "a", Within: time.Second, Run: finds(Bad("", "gone"))},
				{Name: "b", Needs: []string{"a"}, Within: time.Second, Run: finds(Good("here"))},
				{Name: "c", Needs: []string{"b"}, Within: time.Second, Run: finds(Good("here"))}},
			[]Finding{{State: Wrong, Detail: "gone"}, {State: Skipped, Detail: "needs: a"}, {State: Skipped, Detail: "needs: a"}},
		},
		"what it needs comes later": {
			[]Check{{Name: "a", Needs: []string{"b"}, Within: time.Second, Run: finds(Good("here"))}, {Name: "b", Within: time.Second, Run: finds(Good("here"))}},
			[]Finding{{State: Skipped, Detail: "needs: b"}, {State: OK, Detail: "here"}},
		},
		"an error with advice": {
			[]Check{{Name: "a", Within: time.Second, Run: finds(Failed(&transport.Explained{Text: "no token", Of: api.KindForbidden, Do: "log in"}))}},
			[]Finding{{State: Wrong, Detail: "no token", Fix: "log in"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []Finding
				for _, r := range Run(t.Context(), tt.checks) {
					got = append(got, r.Finding)
				}
				if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Finding{}, "Repair", "lacks")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A check may ignore its context, as a program that waits for a terminal does.
func TestACheckThatHangs(t *testing.T) {
	checks := []Check{
		{Name: "hangs", Within: time.Second, Run: hangs},
		{Name: "needs it", Needs: []string{"hangs"}, Within: time.Hour, Run: finds(Good("here"))},
		{Name: "other", Within: time.Hour, Run: finds(Good("here"))},
	}
	got := Run(t.Context(), []Check{{Name: "hangs", Within: time.Nanosecond, Run: hangs}, checks[1], checks[2]})
	want := []Finding{{State: Wrong, Detail: "no answer within 1ns"}, {State: Skipped, Detail: "needs: hangs"}, {State: OK, Detail: "here"}}
	for i, r := range got {
		if diff := cmp.Diff(want[i], r.Finding, cmpopts.IgnoreFields(Finding{}, "Repair", "lacks")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Name, diff)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if got := Run(ctx, checks[:1])[0].Finding; got.State != Skipped || got.Detail != "interrupted" {
		t.Errorf("interrupted: got %v", got)
	}
}

// A request that fails again and again ends with its time, and its check says how it failed.
func TestACheckThatEndsWithItsTime(t *testing.T) {
	fails := func(ctx context.Context) Finding {
		<-ctx.Done()
		<-time.After(10 * time.Millisecond)
		return Bad("", "the service answered 500")
	}
	synctest.Test(t, func(t *testing.T) {
		got := Run(t.Context(), []Check{{Name: "a", Within: time.Second, Run: fails}})[0].Finding
		if got.State != Wrong || got.Detail != "the service answered 500" {
			t.Errorf("got %v", got)
		}
	})
}

// What is slow is said to be slow, whatever the check makes of it.
func TestASlowCheckThatEndsWithItsTime(t *testing.T) {
	for name, tt := range map[string]struct{ found, want Finding }{
		"wrong":   {Bad("install it", "killed"), Skip("no answer within 1s: busy")},
		"skipped": {Skip("it can't be run: killed"), Skip("no answer within 1s: busy")},
		"fine":    {Good("3.12"), Good("3.12")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := func(ctx context.Context) Finding {
					<-ctx.Done()
					return tt.found
				}
				got := Run(t.Context(), []Check{{Name: "a", Within: time.Second, Slow: "busy", Run: run}})[0].Finding
				if got.State != tt.want.State || got.Detail != tt.want.Detail {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestLongest(t *testing.T) {
	checks := []Check{
		{Name: "a", Within: 2}, {Name: "b", Within: 3},
		{Name: "c", Needs: []string{"a", "b"}, Within: 4},
		{Name: "d", Needs: []string{"a"}, Within: 6},
	}
	if got, want := Longest(checks), time.Duration(8); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRepair(t *testing.T) {
	repair := func(did string, err error) Finding {
		f := Bad("", "wrong")
		f.Repair = func(context.Context) (string, error) { return did, err }
		return f
	}
	fine := repair("nothing", nil)
	fine.State = OK
	refused := errors.New("refused")
	got := Repair(t.Context(), []Result{
		{Name: "fine", Finding: fine}, {Name: "unsafe", Finding: Bad("sudo", "wrong")},
		{Name: "first", Finding: repair("made it", nil)}, {Name: "second", Finding: repair("make it", refused)},
	})
	want := []Repaired{{"first", "made it", nil}, {"second", "make it", refused}}
	if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCount(t *testing.T) {
	results := []Result{{Finding: Good("")}, {Finding: Bad("", "")}, {Finding: Skip("")}, {Finding: Bad("", "")}}
	if n := Count(results, Wrong); n != 2 {
		t.Errorf("%d are wrong, want 2", n)
	}
}
