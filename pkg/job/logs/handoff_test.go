package logs

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// handoff is a log that is read from a node first, and then from the store.
type handoff struct {
	texts []string
	apart time.Duration // how far the runner's clock is ahead of the node's
}

// The runner writes many lines at once, with the same stamp. The node stamps each line later.
const (
	linesPerSecond = 10
	linesPerWrite  = 30
)

func (h handoff) node(lines int) string {
	var log strings.Builder
	for i, text := range h.texts[:lines] {
		log.WriteString(lineAt(i/linesPerSecond, i%linesPerSecond*100_000, text))
	}
	return log.String()
}

func (h handoff) store(lines int) string {
	var log []byte
	for i, text := range h.texts[:lines] {
		written := i / linesPerWrite * linesPerWrite
		stamp := at(written / linesPerSecond).Add(h.apart - time.Millisecond)
		log = append(append(appendStamp(log, stamp), text...), '\n')
	}
	return string(log)
}

// printed returns the texts of a log that was printed with timestamps.
func printed(log string) []string {
	var texts []string
	for line := range strings.Lines(log) {
		texts = append(texts, strings.TrimSuffix(line[len(stampForm):], "\n"))
	}
	return texts
}

// different returns lines that all differ, and alike returns many equal ones among them.
func different(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("line %d", i)
	}
	return texts
}

func alike(n int) []string {
	texts := different(n)
	for i := range texts {
		if i%70 != 0 {
			texts[i] = []string{"", "loss: nan"}[i%2]
		}
	}
	return texts
}

// The node provides the first lines, until the pod is gone. The next lines are in the store, with
// other stamps.
func TestTheStoreGoesOnWhereTheNodeStopped(t *testing.T) {
	const before, lines = 300, 400
	for name, texts := range map[string][]string{"different lines": different(lines), "lines that are alike": alike(lines)} {
		for _, apart := range []time.Duration{-time.Hour, -time.Second, 0, time.Second, time.Hour} {
			h := handoff{texts, apart}
			node := h.node(lines)
			for _, o := range []Options{{Tail: 5}, {Tail: 0}, {Tail: -1, Since: at(20)}} {
				first := before - o.Tail
				if o.Tail < 0 {
					first = 20 * linesPerSecond
				}
				inBubble(t, fmt.Sprintf("%s, clocks %v apart, tail %d", name, apart, o.Tail), func(t *testing.T) {
					for n := 0; n < len(node)-len(h.node(before)); n += 97 {
						a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): h.store(250), partName(0, 1, 2): h.store(lines)[len(h.store(250)):]})
						c := &container{log: node, printed: len(h.node(before)), ends: []end{{bytes: n, broken: true}}, gone: true}
						got, _, err := c.read(t, a, o)
						if diff := cmp.Diff(texts[first:], printed(got)); diff != "" || err != nil {
							t.Fatalf("broken after %d bytes: %v (-want +got)\n%s", n, err, diff)
						}
					}
				})
			}
		}
	}
}

// The runner uploads its log now and then. Until then the store lacks the last lines, and for ever
// if the runner is killed.
func TestAStoreThatIsBehindTheNode(t *testing.T) {
	const before, lines = 300, 320
	for _, apart := range []time.Duration{-time.Hour, 0, time.Hour} {
		for _, tail := range []int{10, -1} {
			for name, comes := range map[string]bool{"for some seconds": true, "for ever": false} {
				inBubble(t, fmt.Sprintf("%s, clocks %v apart, tail %d", name, apart, tail), func(t *testing.T) {
					h := handoff{different(lines), apart}
					a, s := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): h.store(270)})
					later := h.node(lines)[len(h.node(lines-1)):]
					c := &container{log: h.node(before), printed: len(h.node(before)), rotated: &later, ends: []end{{broken: true}, {}}}
					want := h.texts[:before]
					if tail > 0 {
						want = want[before-tail:]
					}
					var out strings.Builder
					l := c.podLog(a, Options{Tail: tail, Follow: true}, &out)
					time.AfterFunc(time.Minute, func() {
						if comes {
							s.put(partName(0, 1, 2), h.store(lines)[len(h.store(270)):])
							want = append(want, h.texts[before:]...)
						}
						c.tracker.update([]Pod{member(0, 1, ended)})
					})
					err := l.read(t.Context(), t.Context(), t.Context())
					if diff := cmp.Diff(want, printed(out.String())); diff != "" || err != nil {
						t.Errorf("%v (-want +got)\n%s", err, diff)
					}
					if warned := l.source.(*fakeSource).warned; (len(warned) == 0) != comes {
						t.Errorf("warned of %q", warned)
					}
				})
			}
		}
	}
}

// If a connection breaks within a long line, the store continues with the next byte of that line.
func TestALineThatTheNodeHasTornAfterATail(t *testing.T) {
	long := strings.Repeat("0123456789", 3*readSize/10)
	h := handoff{texts: append(different(200), long, "the last")}
	a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): h.store(len(h.texts))})
	inBubble(t, "", func(t *testing.T) {
		c := &container{log: h.node(len(h.texts)), printed: len(h.node(200)), ends: []end{{bytes: 2 * readSize, broken: true}}, gone: true}
		got, _, err := c.read(t, a, Options{Tail: 1})
		if want := h.texts[199:]; !slices.Equal(printed(got), want) || err != nil {
			t.Errorf("got %s, want %s; %v", clip(strings.Join(printed(got), "|")), clip(strings.Join(want, "|")), err)
		}
	})
}

// The node counts the entries into which the container runtime has cut long lines.
func TestTheLastOfLongLines(t *testing.T) {
	const before, lines = 300, 310
	h := handoff{texts: different(lines)}
	for i := range h.texts {
		h.texts[i] += strings.Repeat(" and so on", 4096)
	}
	a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): h.store(lines)})
	for _, tail := range []int{0, 1, 100, 1000} {
		inBubble(t, fmt.Sprintf("tail %d", tail), func(t *testing.T) {
			c := &container{log: h.node(lines), printed: len(h.node(before)), ends: []end{{broken: true}}, gone: true}
			got, _, err := c.read(t, a, Options{Tail: tail})
			want := h.texts[max(0, before-tail):]
			if !slices.Equal(printed(got), want) || err != nil {
				t.Errorf("got %d lines, want %d; %v", len(printed(got)), len(want), err)
			}
		})
	}
}

// If all lines are equal, only times can find the place.
func TestRecentLinesThatAreAllTheSame(t *testing.T) {
	var log []byte
	recent := &recentLines{}
	for i := range 1000 {
		recent.add([]byte("."), false)
		recent.add([]byte("\n"), true)
		log = append(appendStamp(log, at(i)), ".\n"...)
	}
	if n := len(recent.sums); n > 2*recentCount {
		t.Errorf("%d lines are kept", n)
	}
	for _, line := range []int{recentCount, 500, 1000} {
		recent.at = at(line - 1).Add(10 * time.Millisecond)
		n, found, err := recent.find(bufio.NewReader(bytes.NewReader(log)))
		if n != line || !found || err != nil {
			t.Errorf("found line %d, %v, %v; want line %d", n, found, err, line)
		}
	}
	recent.add([]byte("x\n"), true)
	if n, found, err := recent.find(bufio.NewReader(bytes.NewReader(log))); found || err != nil {
		t.Errorf("found line %d, %v, which is not there", n, err)
	}
}
