package logs

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// A node has dropped the first lines of a log, and the runner was killed before it could upload the last ones, or has
// yet to upload them. The node has those.
func TestTheNodeGoesOnWhereTheStoreEnds(t *testing.T) {
	const stored, lines = 300, 400
	for name, tt := range map[string]struct {
		texts      []string
		first, end int // of what the node has
		apart      time.Duration
		goesOn     int // where, after the end of the store
		warned     bool
		note       int  // the line of the node before which it has one that the store lacks
		torn       bool // the node begins within a line
	}{
		"a note in the node's, long before":       {different(lines), 200, lines, 0, stored, false, 250, false},
		"a note, and the store has all":           {different(lines), 200, stored, 0, stored, false, 250, false},
		"a note just before, and one line after":  {different(lines), 200, lines, 0, stored, true, stored - 1, false},
		"within a line":                           {different(lines), 250, lines, 0, stored, false, 0, true},
		"within a line, and the store has all":    {different(lines), 250, stored, 0, stored, false, 0, true},
		"many lines are in both":                  {different(lines), 50, lines, 0, stored, false, 0, false},
		"many lines that are alike":               {alike(lines), 50, lines, 0, stored, false, 0, false},
		"with other clocks":                       {different(lines), 50, lines, time.Hour, stored, false, 0, false},
		"few lines are in both":                   {different(lines), 280, lines, time.Hour, stored, false, 0, false},
		"one is in both":                          {different(lines), 299, lines, 3 * time.Second, stored, false, 0, false},
		"one is in both, at another time":         {different(lines), 299, lines, time.Hour, stored, true, 0, false},
		"the store has all":                       {different(lines), 250, stored, 0, stored, false, 0, false},
		"the node has only its end":               {different(lines), lines, lines, 0, lines, false, 0, false},
		"the log was rotated again":               {different(lines), 330, lines, 0, lines, true, 0, false},
		"again, and it begins with an equal line": {append(append(different(stored-1), "", "lost", ""), different(98)...), 301, lines, time.Hour, 302, true, 0, false},
	} {
		for _, follow := range []bool{false, true} {
			inBubble(t, fmt.Sprint(name, ", follow ", follow), func(t *testing.T) {
				h := handoff{tt.texts, tt.apart}
				pod := member(0, 1, ended)
				pod.Finished = pod.Started.Add(time.Hour)
				node := h.node(tt.end)[len(h.node(tt.first)):]
				if tt.note > 0 {
					node = strings.Replace(node, lineAt(tt.note/linesPerSecond, tt.note%linesPerSecond*100_000, tt.texts[tt.note]),
						lineAt(tt.note/linesPerSecond, 0, "a note")+lineAt(tt.note/linesPerSecond, tt.note%linesPerSecond*100_000, tt.texts[tt.note]), 1)
				}
				if tt.torn {
					node = strings.Replace(node, tt.texts[tt.first], tt.texts[tt.first][1:], 1)
				}
				if node == "" {
					node = lineAt(59, 0, records.EndLine(followed))
				}
				s := newFakeSource(logsOf(map[string]string{"h0-1": node}), pod)
				s.pods.Set(Pods{List: []Pod{pod}, JobEnded: true})
				a, _ := archiveOf(map[string]string{"end.json": succeeded, attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): h.store(170), partName(0, 1, 2): h.store(stored)[len(h.store(170)):]})
				out, err := readAll(t.Context(), s, a, Options{Follow: follow, Tail: -1, Timestamps: true})
				want := append(slices.Clone(h.texts[:stored]), h.texts[tt.goesOn:tt.end]...)
				if diff := cmp.Diff(want, printed(out)); diff != "" || err != nil {
					t.Errorf("%v (-want +got)\n%s", err, diff)
				}
				if (len(s.warned) > 0) != tt.warned {
					t.Errorf("warned of %q", s.warned)
				}
			})
		}
	}
}

// The store has what a node has dropped of a log that was followed until then, and the node what comes after that.
func TestAFollowedLogThatIsRotatedAgain(t *testing.T) {
	const before, stored, lines = 100, 300, 400
	h := handoff{different(lines), 0}
	for _, tail := range []int{-1, 10} {
		inBubble(t, fmt.Sprint("tail ", tail), func(t *testing.T) {
			a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): h.store(stored)})
			later := h.node(lines)[len(h.node(250)):]
			c := &container{log: h.node(before), printed: len(h.node(before)), rotated: &later, ends: []end{{broken: true}, {}}}
			time.AfterFunc(time.Minute, func() { c.tracker.update([]Pod{member(0, 1, ended)}) })
			got, l, err := c.read(t, a, Options{Tail: tail, Follow: true})
			want := h.texts
			if tail > 0 {
				want = want[before-tail:]
			}
			if diff := cmp.Diff(want, printed(got)); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			if warned := l.source.(*fakeSource).warned; len(warned) > 0 {
				t.Errorf("warned of %q", warned)
			}
		})
	}
}

// The store comes in pieces of any size.
func TestTheLastLinesOfAStoredLog(t *testing.T) {
	log := stored(lineAt(1, 0, "one")) + "short\n" + "a line without a stamp, and long enough for one\n" + stored(lineAt(2, 0, "")) + stored(lineAt(3, 7, strings.Repeat("long", 50)))
	var want []uint64
	seed := maphash.MakeSeed()
	for size := len(log); size > 0; size-- {
		var passed strings.Builder
		s := &lastStored{Writer: &passed}
		s.hash.SetSeed(seed)
		for piece := range slices.Chunk([]byte(log), size) {
			if _, err := s.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if want == nil {
			want = s.sums
		}
		if !slices.Equal(s.sums, want) || len(want) != 5 || !s.at.Equal(at(3).Add(7*time.Microsecond)) || passed.String() != log {
			t.Fatalf("in pieces of %d bytes: %d lines, the last at %v, and passed %q", size, len(s.sums), s.at, passed.String())
		}
	}
}
