package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// container serves the log of one container as a kubelet does: from a whole
// second on, or the last lines.
type container struct {
	log string // with stamps
	// printed is how much of it is there. It grows with what is sent to who follows.
	printed int
	// ends are those of the first connections that follow the log; the container
	// has ended when the last of them does.
	ends []end
	// torn are the lengths of the first answers to who does not follow, which break.
	torn []int
	gone bool // together with its pod, when it has ended
	// rotated is what is left of the log when it is asked for again.
	rotated *string
	board   *board

	mu       sync.Mutex
	followed int
}

// end is after so many bytes of an answer.
type end struct {
	bytes  int
	broken bool // rather than clean
	silent bool // the connection stays, and nothing comes
}

func (c *container) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	over := c.followed == len(c.ends)
	if over && c.gone {
		fail(w, http.StatusNotFound, "NotFound")
		return
	}
	if c.followed > 0 && c.rotated != nil {
		c.log, c.printed, c.rotated = *c.rotated, len(*c.rotated), nil
	}
	q := r.URL.Query()
	follow := q.Get("follow") != "" && !over
	log := c.log
	if !follow && !over {
		log = log[:c.printed]
	}
	log = from(log, q.Get("sinceTime"), q.Get("tailLines"))
	switch {
	case over:
		send(w, r, log, end{bytes: len(log)})
		return
	case !follow:
		c.answer(w, r, log)
		return
	}
	at := c.ends[c.followed]
	if c.followed++; c.followed == len(c.ends) {
		c.board.post(c.pod(terminated(0, "Completed", "")))
	}
	sent := len(c.log) - len(log) + min(at.bytes, len(log))
	c.printed = max(c.printed, sent+strings.IndexByte(c.log[sent:], '\n')+1) // whole lines
	send(w, r, log, at)
}

// answer sends what there is to one who does not follow.
func (c *container) answer(w http.ResponseWriter, r *http.Request, log string) {
	at := end{bytes: len(log)}
	if len(c.torn) > 0 && len(log) > 0 {
		at = end{bytes: c.torn[0], broken: true}
		c.torn = c.torn[1:]
	}
	send(w, r, log, at)
}

func send(w http.ResponseWriter, r *http.Request, log string, at end) {
	_, _ = io.WriteString(w, log[:min(at.bytes, len(log))])
	_ = http.NewResponseController(w).Flush()
	switch {
	case at.silent:
		<-r.Context().Done()
	case at.broken:
		panic(http.ErrAbortHandler)
	}
}

// from is the part of the log that a request asks for. Lines without a stamp
// belong to the one before.
func from(log, since, tail string) string {
	if t, err := time.Parse(time.RFC3339, since); err == nil {
		for line := range strings.Lines(log) {
			if stamp, _, ok := split([]byte(line)); ok && !stamp.Before(t) {
				break
			}
			log = log[len(line):]
		}
	}
	if n, err := strconv.Atoi(tail); err == nil {
		lines := strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n")
		if strings.HasSuffix(log, "\n") {
			lines[len(lines)-1] += "\n"
		}
		log = strings.Join(lines[max(0, len(lines)-n):], "")
	}
	return log
}

func (c *container) pod(s corev1.ContainerState) snapshot {
	p := pod("a", 1, s)
	return snapshot{Workload: asWorkload(job()), pods: map[types.UID]*corev1.Pod{p.UID: &p}}
}

// follow reads the container's log through every end of its connections. Where only the
// end of the log is wanted, it is decoded, with its stamps.
func (c *container) follow(t *testing.T, o logs.Options, out io.Writer, change func(*stream)) error {
	t.Helper()
	if o.Tail >= 0 || !o.Since.IsZero() {
		out = logs.NewDecoder(screen.Both(out), logs.Options{Since: o.Since, Timestamps: true})
	}
	c.board = newBoard(nil, false)
	c.board.post(c.pod(running(1)))
	server := httptest.NewServer(c)
	defer server.Close()
	client, err := NewClient(&rest.Config{Host: server.URL, QPS: -1}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{workload: New(client), id: "cpu-f", board: c.board}
	s := r.stream(pod("a", 1, running(1)), o, out)
	if change != nil {
		change(s)
	}
	return followPod(t.Context(), t.Context(), c.board, s)
}

var wholeLog = logs.Options{Tail: -1, Host: -1}

// line is one of a log: at a moment, in the form of a kubelet.
func line(second, micro int, text string) string {
	return fmt.Sprintf("2026-01-01T00:00:%02d.%06d000Z %s\n", second, micro, text)
}

// stored is a log in our form, which has fewer digits.
func stored(log string) string { return strings.ReplaceAll(log, "000Z ", "Z ") }

// busy has lines of the same second and of the same moment, empty ones and a
// second that comes again.
var busy = line(1, 5, "one") + line(1, 5, "one") + line(1, 6, "") + line(2, 0, "a b\rc") + line(2, 1, "two") + line(4, 0, "three") +
	line(4, 1, "four")

func TestEveryBreakOfTheConnectionLosesAndDoublesNothing(t *testing.T) {
	for n := range len(busy) + 1 {
		for _, m := range []int{0, 40, len(busy)} {
			c := &container{log: busy, ends: []end{{bytes: n, broken: true}, {bytes: m, broken: true}}}
			var out bytes.Buffer
			if err := c.follow(t, wholeLog, &out, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(stored(busy), out.String()); diff != "" {
				t.Fatalf("broken after %d bytes and after %d (-want +got)\n%s", n, m, diff)
			}
		}
	}
}

func TestWhatIsThereAlreadyIsNotLostWhenItsReadingBreaks(t *testing.T) {
	for _, printed := range []int{strings.LastIndex(busy, "2026"), len(busy)} {
		for n := range printed + 1 {
			c := &container{log: busy, printed: printed, torn: []int{n}, ends: []end{{bytes: len(busy)}}}
			var out bytes.Buffer
			if err := c.follow(t, wholeLog, &out, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(stored(busy), out.String()); diff != "" {
				t.Fatalf("%d bytes printed, broken after %d (-want +got)\n%s", printed, n, diff)
			}
			if len(c.torn) > 0 {
				t.Fatal("what was there was read by following")
			}
		}
	}
}

func TestACleanEndIsNotTheEnd(t *testing.T) {
	for n := range len(busy) + 1 {
		if n > 0 && busy[n-1] != '\n' {
			continue // a kubelet ends between lines
		}
		c := &container{log: busy, ends: []end{{bytes: n}, {bytes: 0}, {bytes: len(busy)}}}
		var out bytes.Buffer
		if err := c.follow(t, wholeLog, &out, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stored(busy), out.String()); diff != "" {
			t.Errorf("ended after %d bytes (-want +got)\n%s", n, diff)
		}
	}
}

func TestLongLinesComeWhole(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000)
	log := line(1, 0, "before") + line(1, 1, long) + line(1, 2, "after")
	for _, n := range []int{60_000, screen.MaxLine, screen.MaxLine + 1, 3 * screen.MaxLine, len(log)} {
		c := &container{log: log, ends: []end{{bytes: n, broken: true}}}
		var out bytes.Buffer
		if err := c.follow(t, wholeLog, &out, nil); err != nil {
			t.Fatal(err)
		}
		if out.String() != stored(log) {
			t.Errorf("broken after %d bytes: got %d bytes, want %d", n, out.Len(), len(stored(log)))
		}
	}
}

func TestWhatAStreamPassesOn(t *testing.T) {
	pieces := line(6, 0, "one") + line(7, 0, "two") + line(7, 1, "a\x1f") + line(7, 2, "b\x1f") + line(7, 3, "c")
	var many string // pieces of one line
	for i := range 900 {
		many += line(7, i+1, ".\x1f")
	}
	many = strings.TrimSuffix(many, "\x1f\n") + "\n"
	endLine := line(5, 0, logs.EndLine("cpu-f"))
	marked := line(5, 0, "\x1e"+logs.EndLine("cpu-f"))
	open := line(4, 9, "no end\x1f")
	ended, ran := true, false
	tests := map[string]struct {
		log     string
		options logs.Options
		ended   bool
		want    string
	}{
		"the end line is held back":                 {busy + endLine, wholeLog, ended, stored(busy)},
		"with the mark of standard error, too":      {busy + marked, wholeLog, ended, stored(busy)},
		"below a line without an end":               {busy + open + marked, wholeLog, ended, stored(busy + open)},
		"a hint that is wrong is a line":            {busy + endLine + line(6, 0, "x"), wholeLog, ran, stored(busy + endLine + line(6, 0, "x"))},
		"the end line of another job":               {line(5, 0, logs.EndLine("cpu-g")), wholeLog, ended, stored(line(5, 0, logs.EndLine("cpu-g")))},
		"a last line without an end":                {busy + strings.TrimSuffix(line(5, 0, "x"), "\n"), wholeLog, ran, stored(busy + strings.TrimSuffix(line(5, 0, "x"), "\n"))},
		"lines without stamps":                      {"unable to read\n" + busy, wholeLog, ran, "unable to read\n" + stored(busy)},
		"the tail":                                  {busy, logs.Options{Tail: 1}, ran, stored(line(4, 1, "four"))},
		"the tail does not count the end line":      {busy + marked, logs.Options{Tail: 1}, ended, stored(line(4, 1, "four"))},
		"the tail of lines of the same moment":      {busy, logs.Options{Tail: 6}, ran, stored(line(1, 5, "one") + line(1, 6, "") + line(2, 0, "a b\r2026-01-01T00:00:02.000000000Z c") + line(2, 1, "two") + line(4, 0, "three") + line(4, 1, "four"))},
		"the tail counts lines, not pieces":         {pieces, logs.Options{Tail: 2}, ran, stored(line(7, 0, "two")) + stored(line(7, 1, "abc"))},
		"the tail of a line of many pieces":         {line(7, 0, "two") + many + line(8, 0, "three"), logs.Options{Tail: 2}, ran, stored(line(7, 1, strings.Repeat(".", 900)) + line(8, 0, "three"))},
		"a tail within a line":                      {pieces + line(8, 0, "\x1e1%\x1f") + line(8, 1, "\x1e\r2%\x1f") + line(8, 2, "\x1e\r3%"), logs.Options{Tail: 1}, ran, stored(line(8, 2, "3%"))},
		"nothing of what is there":                  {busy, logs.Options{Tail: 0}, ran, ""},
		"nothing of what is there, and it is ended": {busy + endLine, logs.Options{Tail: 0}, ended, ""},
		"the tail of an empty log":                  {"", logs.Options{Tail: 3}, ran, ""},
		"since a time in the middle of a line":      {line(1, 0, "a\x1f") + line(4, 0, "\x1ee") + line(4, 1, "b"), logs.Options{Tail: -1, Since: at(3).Time}, ran, stored(line(4, 0, "e"))},
		"since":                                     {busy, logs.Options{Tail: -1, Since: at(3).Time}, ran, stored(line(4, 0, "three") + line(4, 1, "four"))},
	}
	for name, tt := range tests {
		butTheLast := strings.LastIndexByte(strings.TrimSuffix(tt.log, "\n"), '\n') + 1
		for n, printed := range map[int]int{0: 0, 50: 0, 51: butTheLast, len(tt.log): len(tt.log)} {
			t.Run(fmt.Sprintf("%s, broken after %d, %d printed before", name, n, printed), func(t *testing.T) {
				tt.options.Ended = func(context.Context) bool { return tt.ended }
				c := &container{log: tt.log, printed: printed, ends: []end{{bytes: n, broken: true}}}
				if tt.options.Tail >= 0 {
					c.printed = len(tt.log)
				}
				var out bytes.Buffer
				err := c.follow(t, tt.options, &out, nil)
				if err != nil && !errors.Is(err, errEnded) {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, out.String()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

func TestALogThatIsSilentIsAskedForAgain(t *testing.T) {
	c := &container{log: busy, ends: []end{{bytes: 40, silent: true}, {bytes: 0, silent: true}}}
	var out bytes.Buffer
	if err := c.follow(t, wholeLog, &out, func(s *stream) { s.idle = time.Millisecond }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored(busy), out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestThePointThatAPodWasReadToWhenItWent(t *testing.T) {
	long := line(5, 0, strings.Repeat("x", 2*screen.MaxLine))
	piece := screen.MaxLine - len(line(5, 0, "")) + 1 // what a buffer holds of its text
	tests := map[string]struct {
		log     string
		bytes   int
		options logs.Options
		want    logs.Point
	}{
		"nothing":               {busy, 0, wholeLog, logs.Point{Pod: "a"}},
		"whole lines":           {busy, len(line(1, 5, "one")) * 2, wholeLog, logs.Point{Pod: "a", Lines: 2}},
		"a torn line":           {busy, len(line(1, 5, "one")) + 33, wholeLog, logs.Point{Pod: "a", Lines: 1}},
		"in the middle of one":  {line(4, 0, "x") + long, screen.MaxLine + 100, wholeLog, logs.Point{Pod: "a", Lines: 1, Bytes: piece}},
		"from the tail on":      {busy, 1 << 20, logs.Options{Tail: 2}, logs.Point{Pod: "a", Lines: 2, After: at(4).Add(time.Microsecond)}},
		"from a moment on":      {busy, 1 << 20, logs.Options{Tail: -1, Since: at(4).Time}, logs.Point{Pod: "a", Lines: 7, After: at(4).Add(time.Microsecond)}},
		"from then on, nothing": {busy, 0, logs.Options{Tail: 0}, logs.Point{Pod: "a", After: at(4).Add(time.Microsecond)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got logs.Point
			tt.options.Rest = func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
				got = p
				_, err := io.WriteString(w, "the rest")
				return p, err
			}
			c := &container{log: tt.log, ends: []end{{bytes: tt.bytes, broken: true}}, gone: true}
			if tt.options.Tail >= 0 {
				c.printed = len(tt.log)
			}
			var out bytes.Buffer
			if err := c.follow(t, tt.options, &out, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if !strings.HasSuffix(out.String(), "the rest") {
				t.Errorf("got %q", out.String())
			}
		})
	}
}

func TestLinesThatTheNodeHasDroppedAreReadInTheStore(t *testing.T) {
	first := line(1, 0, "one") + line(1, 1, "two")
	tests := map[string]struct {
		left  string // of the log
		ends  []end
		asks  int // of the store
		after string
	}{
		"the line is there":     {line(1, 1, "two") + line(1, 2, "three"), []end{{bytes: 1000, broken: true}}, 0, stored(line(1, 2, "three"))},
		"it is gone":            {line(1, 2, "three"), []end{{bytes: 1000, broken: true}}, 1, "the rest"},
		"and so is all else":    {"", []end{{bytes: 1000, broken: true}}, 1, "the rest"},
		"while the job goes on": {line(9, 0, "x"), []end{{bytes: 1000, broken: true}, {bytes: 1000}, {}}, 2, "the restthe rest"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			asks := 0
			c := &container{log: first, rotated: &tt.left, ends: tt.ends}
			o := wholeLog
			o.Rest = func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
				if p.Lines != 2+asks {
					t.Errorf("asked for what comes after %d lines", p.Lines)
				}
				asks++
				p.Lines++
				c.board.post(c.pod(terminated(0, "Completed", "")))
				_, err := io.WriteString(w, "the rest")
				return p, err
			}
			var out bytes.Buffer
			if err := c.follow(t, o, &out, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(stored(first)+tt.after, out.String()); diff != "" || asks != tt.asks {
				t.Errorf("asked %d times (-want +got)\n%s", asks, diff)
			}
		})
	}
}

func TestAReaderThatGoesAwayEndsTheReading(t *testing.T) {
	c := &container{log: busy, ends: []end{{bytes: len(busy)}}}
	r, w := io.Pipe()
	_ = r.CloseWithError(io.ErrUnexpectedEOF)
	if err := c.follow(t, wholeLog, w, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}
