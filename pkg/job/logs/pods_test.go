package logs

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestAttemptsOfPods(t *testing.T) {
	leader, worker := func(made int) Pod { return member(0, made, running(made)) }, func(made int) Pod { return member(1, made, running(made)) }
	records := []api.Attempt{{Attempt: 1, UID: "gone"}, {Attempt: 2, UID: "h0-3"}}
	tests := map[string]struct {
		known  []api.Attempt
		posted [][]Pod
		ask    Pod
		want   int
		gone   int
	}{
		"the first pod is the first attempt":       {nil, [][]Pod{{leader(1)}}, leader(1), 1, 0},
		"pods that went are remembered":            {nil, [][]Pod{{leader(1)}, {leader(4)}}, leader(4), 2, 1},
		"the store knows of earlier ones":          {records, [][]Pod{{leader(3)}}, leader(3), 2, 1},
		"one that is not recorded comes after all": {records, [][]Pod{{leader(7)}}, leader(7), 3, 2},
		"a worker is of its leader's attempt":      {records, [][]Pod{{leader(3), worker(4)}, {leader(7), worker(8)}}, worker(8), 3, 2},
		"a leader that went is of the last record": {records, [][]Pod{{worker(4)}}, worker(4), 2, 1},
		"also when there is another one":           {records, [][]Pod{{leader(3), worker(4)}, {leader(7), worker(4)}}, worker(4), 2, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tracker := newPodTracker(tt.known, false)
			for _, pods := range tt.posted {
				tracker.update(pods)
			}
			now := tracker.now()
			if got, gone := now.attemptOf(&tt.ask).number, now.gone(tt.ask.Host); got != tt.want || len(gone) != tt.gone {
				t.Errorf("attempt %d, and %d before it are gone; want %d and %d", got, len(gone), tt.want, tt.gone)
			}
		})
	}
}

// In a map each chunk has its own attempts.
func TestAttemptsOfAMap(t *testing.T) {
	chunk := func(number, made int) Pod { return member(number, made, running(made)) }
	tracker := newPodTracker([]api.Attempt{{Attempt: 1, Host: 3, UID: "lost"}, {Attempt: 1, Host: 2, UID: "h2-2"}, {Attempt: 2, Host: 3, UID: "h3-4"}}, true)
	tracker.update([]Pod{chunk(0, 1), chunk(2, 2), chunk(3, 4), chunk(2, 9)})
	now := tracker.now()
	for _, tt := range []struct {
		pod           Pod
		attempt, gone int
	}{{chunk(0, 1), 1, 0}, {chunk(2, 2), 1, 0}, {chunk(2, 9), 2, 0}, {chunk(3, 4), 2, 1}} {
		got, gone := now.attemptOf(&tt.pod), now.gone(tt.pod.Host)
		if got.number != tt.attempt || got.leader != tt.pod.UID || len(gone) != tt.gone {
			t.Errorf("%s: %+v, and %v are gone; want attempt %d", tt.pod.UID, got, gone, tt.attempt)
		}
	}
}

func TestTheAttemptsInWhichAHostHasNoPodAnyMore(t *testing.T) {
	removed := func(p Pod) Pod {
		p.Deleted = true
		return p
	}
	tests := map[string]struct {
		pods []Pod
		want []int
	}{
		"its pod is there":                   {[]Pod{member(0, 3, running(4)), member(1, 4, running(4))}, []int{1}},
		"its pod may yet come":               {[]Pod{member(0, 3, running(4))}, []int{1}},
		"it went before its leader":          {[]Pod{removed(member(0, 3, running(4)))}, []int{1, 2}},
		"its leader has ended":               {[]Pod{member(0, 3, ended)}, []int{1, 2}},
		"it went and its leader is followed": {[]Pod{removed(member(0, 3, running(4))), member(0, 9, running(9)), member(1, 9, running(9))}, []int{1, 2}},
		"its leader went before it":          {[]Pod{member(1, 4, running(4))}, []int{1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tracker := newPodTracker([]api.Attempt{{Attempt: 1, UID: "gone"}}, false)
			tracker.update([]Pod{member(0, 3, running(4)), member(1, 4, running(4))})
			tracker.update(tt.pods)
			var got []int
			for _, a := range tracker.now().gone(1) {
				got = append(got, a.number)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A state is read while the next one is made.
func TestAStateOfPodsStaysAsItWas(t *testing.T) {
	tracker := newPodTracker([]api.Attempt{{Attempt: 1, UID: "h0-1"}}, false)
	first := tracker.now()
	tracker.update([]Pod{member(0, 1, running(1))})
	second := tracker.now()
	tracker.update([]Pod{member(0, 1, ended), member(0, 7, running(8))})
	for i, s := range []*podState{first, second} {
		if attempts := s.attempts[0]; len(s.pods) != i || len(attempts) != 1 || attempts[0].created.IsZero() != (i == 0) {
			t.Errorf("state %d is now %+v", i, s)
		}
	}
	if second.hasEnded("h0-1") {
		t.Error("a state has seen an end that came later")
	}
}

func TestTheNextPodToRead(t *testing.T) {
	pods := []Pod{member(0, 1, ended), member(0, 3, running(4)), member(0, 9, waiting)}
	failure := errors.New("forbidden")
	tests := map[string]struct {
		options Options
		done    string
		close   error // unless nil
		want    string
	}{
		"the first":               {wholeLog, "", nil, "h0-1"},
		"the one after":           {wholeLog, "h0-1", nil, "h0-3"},
		"none that has not begun": {wholeLog, "h0-3", errors.New("over"), "over"},
		"of a tail the last":      {Options{Tail: 3, Host: -1, Attempt: 2}, "", nil, "h0-3"},
		"or that has begun":       {Options{Tail: 3, Host: -1}, "", failure, "h0-3"},
		"and none before it":      {Options{Tail: 3, Host: -1}, "h0-3", failure, "forbidden"},
		"one attempt":             {Options{Tail: -1, Attempt: 2}, "", nil, "h0-3"},
		"and no other":            {Options{Tail: -1, Attempt: 1}, "h0-1", nil, "none"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tracker := newPodTracker(nil, false)
			tracker.update(pods)
			if tt.close != nil {
				tracker.Close(tt.close)
			}
			done := map[string]bool{}
			if tt.done != "" {
				done[tt.done] = true
			}
			r := newReader(newFakeSource(nil), withoutLog(), tt.options, tracker)
			p, err := r.nextPod(t.Context(), 0, done)
			got := "none"
			switch {
			case err != nil:
				got = fmt.Sprint(err)
			case p != nil:
				got = p.Name
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
