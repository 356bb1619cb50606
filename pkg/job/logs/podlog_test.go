package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

var wholeLog = Options{Tail: -1, Host: -1}

// busy has several lines in one second and with one stamp, and an empty line.
var busy = lineAt(1, 5, "one") + lineAt(1, 5, "one") + lineAt(1, 6, "") + lineAt(2, 0, "a b\rc") + lineAt(2, 1, "two") + lineAt(4, 0, "three") +
	lineAt(4, 1, "four")

// inBubble runs a test in a synctest bubble, in which waiting takes no time.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestEveryBreakOfTheConnectionLosesAndDoublesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := shown(t, busy)
		for n := range len(busy) + 1 {
			for _, m := range []int{0, 40, len(busy)} {
				c := &container{log: busy, ends: []end{{bytes: n, broken: true}, {bytes: m, broken: true}}}
				got, _, err := c.read(t, withoutLog(), wholeLog)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Fatalf("broken after %d bytes and after %d: %v (-want +got)\n%s", n, m, err, diff)
				}
			}
		}
	})
}

func TestWhatIsThereAlreadyIsNotLostWhenItsReadingBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, printed := range []int{strings.LastIndex(busy, "2026"), len(busy)} {
			for n := range printed + 1 {
				c := &container{log: busy, printed: printed, torn: []int{n}, ends: []end{{bytes: len(busy)}}}
				got, _, err := c.read(t, withoutLog(), wholeLog)
				if diff := cmp.Diff(shown(t, busy), got); diff != "" || err != nil {
					t.Fatalf("%d bytes printed, broken after %d: %v (-want +got)\n%s", printed, n, err, diff)
				}
				if len(c.torn) > 0 {
					t.Fatal("what was there was read by following")
				}
			}
		}
	})
}

func TestACleanEndIsNotTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n := range len(busy) + 1 {
			if n > 0 && busy[n-1] != '\n' {
				continue // a kubelet ends between lines
			}
			c := &container{log: busy, ends: []end{{bytes: n}, {bytes: 0}, {bytes: len(busy)}}}
			got, _, err := c.read(t, withoutLog(), wholeLog)
			if diff := cmp.Diff(shown(t, busy), got); diff != "" || err != nil {
				t.Errorf("ended after %d bytes: %v (-want +got)\n%s", n, err, diff)
			}
		}
	})
}

func TestLongLinesComeWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := lineAt(1, 0, "before") + lineAt(1, 1, strings.Repeat("0123456789", 20_000)) + lineAt(1, 2, "after")
		for _, hosts := range []int{1, 10_000} { // whose buffers are small
			for _, n := range []int{1000, minBuffer, minBuffer + 1, 60_000, readSize, readSize + 1, 3 * readSize, len(log)} {
				c := &container{log: log, ends: []end{{bytes: n, broken: true}}}
				got, _, err := c.read(t, withoutLog(), Options{Tail: -1, Host: 0, Hosts: hosts})
				if want := shown(t, log); got != want || err != nil {
					t.Errorf("%d hosts, broken after %d bytes: got %d bytes, want %d; %v", hosts, n, len(got), len(want), err)
				}
			}
		}
	})
}

func TestWhatIsPrintedOfALog(t *testing.T) {
	pieces := lineAt(6, 0, "one") + lineAt(7, 0, "two") + lineAt(7, 1, "a\x1f") + lineAt(7, 2, "b\x1f") + lineAt(7, 3, "c")
	var many string // pieces of one line
	for i := range 900 {
		many += lineAt(7, i+1, ".\x1f")
	}
	many = strings.TrimSuffix(many, "\x1f\n") + "\n"
	endLine := lineAt(5, 0, records.EndLine(followed))
	marked := lineAt(5, 0, "\x1e"+records.EndLine(followed))
	reported := lineAt(4, 9, "\x1ckinetic: result {}")
	open := lineAt(4, 9, "no end\x1f")
	unended := strings.TrimSuffix(lineAt(5, 0, "x"), "\n")
	const over, runs = true, false
	tests := map[string]struct {
		log   string
		o     Options
		ended bool
		want  string
	}{
		"the end line is held back":                 {busy + endLine, wholeLog, over, busy},
		"with the mark of standard error, too":      {busy + marked, wholeLog, over, busy},
		"below a line without an end":               {busy + open + marked, wholeLog, over, busy + open},
		"a hint that is wrong is a line":            {busy + endLine + lineAt(6, 0, "x"), wholeLog, runs, busy + endLine + lineAt(6, 0, "x")},
		"the end line of another job":               {lineAt(5, 0, records.EndLine("cpu-g")), wholeLog, over, lineAt(5, 0, records.EndLine("cpu-g"))},
		"a report is not a line":                    {busy + reported + marked, wholeLog, over, busy},
		"the tail does not count a report":          {busy + reported + marked, Options{Tail: 1}, over, lineAt(4, 1, "four")},
		"a last line without an end":                {busy + unended, wholeLog, runs, busy + unended},
		"lines without stamps":                      {"unable to read\n" + busy, wholeLog, runs, "unable to read\n" + busy},
		"both streams":                              {lineAt(1, 0, "\x1eone\x1f") + lineAt(1, 1, "two") + lineAt(1, 2, "\x1ethree"), wholeLog, runs, lineAt(1, 0, "\x1eone\x1f") + lineAt(1, 1, "two") + lineAt(1, 2, "\x1ethree")},
		"the tail":                                  {busy, Options{Tail: 1}, runs, lineAt(4, 1, "four")},
		"the tail does not count the end line":      {busy + marked, Options{Tail: 1}, over, lineAt(4, 1, "four")},
		"the tail of lines of the same moment":      {busy, Options{Tail: 6}, runs, busy[len(lineAt(1, 5, "one")):]},
		"the tail counts lines, not pieces":         {pieces, Options{Tail: 2}, runs, lineAt(7, 0, "two") + lineAt(7, 1, "abc")},
		"the tail of a line of many pieces":         {lineAt(7, 0, "two") + many + lineAt(8, 0, "three"), Options{Tail: 2}, runs, lineAt(7, 1, strings.Repeat(".", 900)) + lineAt(8, 0, "three")},
		"a tail within a line":                      {pieces + lineAt(8, 0, "\x1e1%\x1f") + lineAt(8, 1, "\x1e\r2%\x1f") + lineAt(8, 2, "\x1e\r3%"), Options{Tail: 1}, runs, lineAt(8, 2, "3%")},
		"nothing of what is there":                  {busy, Options{Tail: 0}, runs, ""},
		"nothing of what is there, and it is ended": {busy + endLine, Options{Tail: 0}, over, ""},
		"the tail of an empty log":                  {"", Options{Tail: 3}, runs, ""},
		"since a time in the middle of a line":      {lineAt(1, 0, "a\x1f") + lineAt(4, 0, "\x1ee") + lineAt(4, 1, "b"), Options{Tail: -1, Since: at(3)}, runs, lineAt(4, 0, "e")},
		"since":                                     {busy, Options{Tail: -1, Since: at(3)}, runs, lineAt(4, 0, "three") + lineAt(4, 1, "four")},
	}
	for name, tt := range tests {
		butTheLast := strings.LastIndexByte(strings.TrimSuffix(tt.log, "\n"), '\n') + 1
		for n, printed := range map[int]int{0: 0, 50: 0, 51: butTheLast, len(tt.log): len(tt.log)} {
			inBubble(t, fmt.Sprintf("%s, broken after %d, %d printed before", name, n, printed), func(t *testing.T) {
				c := &container{log: tt.log, printed: printed, ends: []end{{bytes: n, broken: true}}}
				if tt.o.Tail >= 0 {
					c.printed = len(tt.log)
				}
				a := withoutLog()
				if tt.ended {
					a = endedArchive()
				}
				got, _, err := c.read(t, a, tt.o)
				if err != nil && !errors.Is(err, errEnded) {
					t.Fatal(err)
				}
				if diff := cmp.Diff(shown(t, tt.want), got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if end, known := a.End(); known != errors.Is(err, errEnded) || known && end.Reason != "Completed" {
					t.Errorf("after %v the archive knows the end %+v, %v", err, end, known)
				}
			})
		}
	}
}

// counted counts how often a store is asked for the end of a job.
type counted struct {
	store.Store
	asked *int
}

func (c counted) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if name == store.End(followed) {
		*c.asked++
	}
	return c.Store.Open(ctx, name)
}

func TestACallThatPrintsTheEndLineCostsFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed strings.Builder
		for i := range 1000 {
			printed.WriteString(lineAt(1, i, records.EndLine(followed)))
		}
		a, asked := withoutLog(), 0
		a.Store = counted{a.Store, &asked}
		c := &container{log: printed.String(), ends: []end{{bytes: printed.Len()}}}
		got, _, err := c.read(t, a, wholeLog)
		if diff := cmp.Diff(shown(t, printed.String()), got); diff != "" || err != nil || asked != 1 {
			t.Errorf("%v; the store was asked %d times, want 1 (-want +got)\n%s", err, asked, diff)
		}
	})
}

func TestALogThatIsSilentIsRequestedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &container{log: busy, ends: []end{{bytes: 40, silent: true}, {bytes: 0, silent: true}}}
		got, _, err := c.read(t, withoutLog(), wholeLog)
		if diff := cmp.Diff(shown(t, busy), got); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}

// If a pod is gone, the rest of its log comes from the archive, from the next byte on.
func TestTheRestOfALogWhosePodIsGone(t *testing.T) {
	long := lineAt(4, 0, "x") + lineAt(5, 0, strings.Repeat("x", 2*readSize)) + lineAt(6, 0, "y")
	one := len(lineAt(1, 5, "one"))
	tests := map[string]struct {
		log   string
		bytes int // that it gave
		o     Options
		want  string
	}{
		"nothing was read":          {busy, 0, wholeLog, busy},
		"whole lines":               {busy, 2 * one, wholeLog, busy},
		"a torn line":               {busy, one + 33, wholeLog, busy},
		"the middle of a long line": {long, readSize + 100, wholeLog, long},
		"from the tail on":          {busy, 1 << 20, Options{Tail: 2}, lineAt(4, 0, "three") + lineAt(4, 1, "four")},
		"from a moment on":          {busy, 1 << 20, Options{Tail: -1, Since: at(4)}, lineAt(4, 0, "three") + lineAt(4, 1, "four")},
		"from now on":               {busy, 0, Options{Tail: 0}, ""},
	}
	for name, tt := range tests {
		inBubble(t, name, func(t *testing.T) {
			after := ""
			if tt.log == busy { // which the archive alone has
				after = lineAt(9, 0, "the rest")
			}
			a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(tt.log + after)})
			c := &container{log: tt.log, ends: []end{{bytes: tt.bytes, broken: true}}, gone: true}
			if tt.o.Tail >= 0 {
				c.printed = len(tt.log)
			}
			got, _, err := c.read(t, a, tt.o)
			if want := shown(t, tt.want+after); got != want || err != nil {
				t.Errorf("got %s, want %s; %v", clip(got), clip(want), err)
			}
		})
	}
}

func TestLinesThatTheNodeHasDroppedComeFromTheArchive(t *testing.T) {
	one, two, three, four := lineAt(1, 0, "one"), lineAt(1, 1, "two"), lineAt(1, 2, "three"), lineAt(9, 0, "four")
	breaks := []end{{bytes: 1000, broken: true}}
	tests := map[string]struct {
		left  string // of the log
		ends  []end
		parts []string // of the archive, which come one after the other
		want  string
	}{
		"the line is there":      {two + three, breaks, []string{"", ""}, one + two + three},
		"it is gone":             {three, breaks, []string{one + two + three, ""}, one + two + three},
		"and so is all else":     {"", breaks, []string{one + two + three, ""}, one + two + three},
		"while the job still is": {four, []end{breaks[0], {bytes: 1000}, {}}, []string{one + two, three + four}, one + two + three + four},
	}
	for name, tt := range tests {
		inBubble(t, name, func(t *testing.T) {
			a, s := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(tt.parts[0])})
			c := &container{log: one + two, rotated: &tt.left, ends: tt.ends}
			s.opening = func(name string) {
				if strings.HasSuffix(name, "/1-1.log") { // the container ends before the next look
					s.put(partName(0, 1, 2), stored(tt.parts[1]))
					c.tracker.update([]Pod{member(0, 1, ended)})
				}
			}
			got, _, err := c.read(t, a, wholeLog)
			if diff := cmp.Diff(shown(t, tt.want), got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestAReaderThatGoesAwayEndsTheReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &container{log: busy, ends: []end{{bytes: len(busy)}}}
		r, w := io.Pipe()
		_ = r.CloseWithError(io.ErrClosedPipe)
		l := c.podLog(withoutLog(), wholeLog, w)
		if err := l.read(t.Context(), t.Context(), t.Context()); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
	})
}

// If the end of a line is lost, the line ends where the next one begins.
func TestALineWhoseEndIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := lineAt(9, 0, "three")
		long := strings.Repeat("x", 2*readSize)
		c := &container{log: lineAt(1, 0, long), rotated: &left, ends: []end{{bytes: readSize, broken: true}}}
		got, _, err := c.read(t, withoutLog(), wholeLog)
		begin := long[:readSize-len(lineAt(1, 0, ""))+1]
		if want := shown(t, lineAt(1, 0, begin)+left); got != want || err != nil {
			t.Errorf("got %s, want %s; %v", clip(got), clip(want), err)
		}
	})
}
