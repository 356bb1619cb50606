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

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// readAll returns what Read prints.
func readAll(ctx context.Context, s *fakeSource, a *Archive, o Options) (string, error) {
	var out strings.Builder
	err := Read(ctx, s, a, o, display.Both(&out))
	return out.String(), err
}

func TestTheEndLineOfTheLeaderEndsTheLogsOfAllHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lines = 2000
		var text strings.Builder
		for i := range lines {
			text.WriteString(lineAt(1, i, fmt.Sprintf("line %d", i)))
		}
		s := newFakeSource(openLogs(map[string]string{"h0-1": text.String() + lineAt(3, 0, records.EndLine(followed)), "h1-2": text.String(), "h2-2": text.String()}),
			member(0, 1, running(2)), member(1, 2, running(2)), member(2, 2, running(2)))
		out, err := readAll(t.Context(), s, endedArchive(), Options{Follow: true, Tail: -1, Host: -1, Hosts: 3})
		if err != nil {
			t.Fatal(err)
		}
		next := map[string]int{}
		for l := range strings.Lines(out) {
			host, said, _ := strings.Cut(l, " │ ")
			if want := fmt.Sprintf("line %d\n", next[host]); said != want {
				t.Fatalf("%s: %q, want %q", host, said, want)
			}
			next[host]++
		}
		if diff := cmp.Diff(map[string]int{"host-0": lines, "host-1": lines, "host-2": lines}, next); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// A job may have more hosts than parallelReads. All of them are followed.
func TestMoreHostsThanAreReadAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const number = parallelReads + 50
		texts := map[string]string{}
		var pods []Pod
		for host := range number {
			p := member(host, 1, running(2))
			pods = append(pods, p)
			texts[p.Name] = lineAt(1, 0, "a line")
		}
		s := newFakeSource(openLogs(texts), pods...)
		var out strings.Builder
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- Read(ctx, s, withoutLog(), Options{Follow: true, Tail: -1, Host: -1, Hosts: number}, display.Both(&out))
		}()
		synctest.Wait() // until all hosts are silent
		cancel()
		<-done
		if got := strings.Count(out.String(), "\n"); got != number || s.requests() != 2*number {
			t.Errorf("%d lines after %d requests, want one line and two requests of each of %d hosts", got, s.requests(), number)
		}
	})
}

// The log of a host whose pod is gone is in the store, under its number and the attempt
// of its leader, and so are earlier attempts.
func TestHostsWhosePodsAreGoneAreReadInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource(logsOf(map[string]string{"h1-4": lineAt(5, 0, "now")}), member(0, 3, running(4)), member(1, 4, ended))
		a, _ := archiveOf(map[string]string{
			attemptName(1): attemptRecord(1, "gone"), attemptName(2): attemptRecord(2, "h0-3"),
			partName(1, 1, 1): stored(lineAt(1, 0, "before")), partName(0, 1, 1): stored(lineAt(1, 0, "of host 0")),
		})
		out, err := readAll(t.Context(), s, a, Options{Tail: -1, Host: 1, Hosts: 2})
		if want := "before\nnow\n"; out != want || err != nil {
			t.Errorf("got %q, %v; want %q", out, err, want)
		}
	})
}

// The last lines of a host whose pods are all gone are in the store, too. Pods that start
// after that are followed from their first line.
func TestTheLastLinesOfAHostWhosePodsAreGone(t *testing.T) {
	leader, begins := member(0, 3, running(4)), member(1, 4, waiting)
	for name, tt := range map[string]struct {
		tail   int
		follow bool
		pods   []Pod
		want   string
	}{
		"of an attempt that is over": {2, false, []Pod{member(0, 3, ended)}, "2b\n2c\n"},
		"while another one starts":   {2, false, []Pod{leader}, "1b\n1c\n"},
		"and has a pod":              {2, false, []Pod{leader, begins}, "1b\n1c\n"},
		"no lines":                   {0, false, []Pod{leader}, ""},
		"its pod has them":           {1, false, []Pod{leader, member(1, 4, ended)}, "b\n"},
		"so has one that is over":    {1, false, []Pod{leader, member(1, 4, ended), member(1, 9, waiting)}, "b\n"},
		"and all that follows":       {1, true, []Pod{leader}, "1c\na\nb\n"},
		"of a pod that waited, too":  {1, true, []Pod{leader, begins}, "1c\na\nb\n"},
	} {
		inBubble(t, name, func(t *testing.T) {
			s := newFakeSource(logsOf(map[string]string{"h1-4": lineAt(5, 0, "a") + lineAt(5, 1, "b")}), tt.pods...)
			log := func(n string) string { return stored(lineAt(1, 0, n+"a") + lineAt(1, 1, n+"b") + lineAt(1, 2, n+"c")) }
			a, memory := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "gone"), attemptName(2): attemptRecord(2, "h0-3"),
				partName(1, 1, 1): log("1"), partName(1, 2, 1): log("2")})
			memory.opening = func(name string) {
				if tt.follow && strings.Contains(name, "/logs/") {
					s.pods.Set(Pods{List: []Pod{leader, member(1, 4, ended)}, JobEnded: true})
				}
			}
			out, err := readAll(t.Context(), s, a, Options{Follow: tt.follow, Tail: tt.tail, Host: 1, Hosts: 2})
			if out != tt.want || err != nil {
				t.Errorf("got %q, %v; want %q", out, err, tt.want)
			}
		})
	}
}

// If an attempt begins while the end of the one before is read, all of it is wanted.
func TestTheAttemptAfterATail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := member(0, 1, ended), member(0, 9, ended)
		var s *fakeSource
		s = newFakeSource(func(_ context.Context, p Pod, o OpenOptions) (io.ReadCloser, error) {
			s.pods.Set(Pods{List: []Pod{first, second}, JobEnded: true})
			return body(choosePart(busy, o)), nil
		}, first)
		out, err := readAll(t.Context(), s, withoutLog(), Options{Follow: true, Tail: 1, Timestamps: true})
		if diff := cmp.Diff(shown(t, lineAt(4, 1, "four")+busy), out); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}

// An attempt before the last one is read in the store: its pod is gone, or going.
func TestAnEarlierAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource(logsOf(map[string]string{"h0-1": lineAt(1, 0, "its end"), "h0-3": lineAt(3, 0, "second")}), member(0, 1, ended), member(0, 3, running(4)))
		a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), attemptName(2): attemptRecord(2, "h0-3"),
			partName(0, 1, 1): stored(lineAt(1, 0, "first"))})
		for attempt, want := range map[int]string{1: "first\n", 2: "second\n"} {
			if out, err := readAll(t.Context(), s, a, Options{Tail: -1, Attempt: attempt}); out != want || err != nil {
				t.Errorf("attempt %d: got %q, %v; want %q", attempt, out, err, want)
			}
		}
	})
}

// A node may report a container's start after the job's end.
func TestAHostThatHasNotBegunWhenTheJobHasEndedIsReadInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource(logsOf(map[string]string{"h0-1": lineAt(1, 0, "one") + lineAt(3, 0, records.EndLine(followed))}), member(0, 1, ended), member(1, 2, waiting))
		a, _ := archiveOf(map[string]string{"end.json": succeeded, attemptName(1): attemptRecord(1, "h0-1"), partName(1, 1, 1): stored(lineAt(2, 0, "two"))})
		out, err := readAll(t.Context(), s, a, Options{Follow: true, Tail: -1, Host: -1, Hosts: 2})
		if want := "host-0 │ one\nhost-1 │ two\n"; out != want || err != nil {
			t.Errorf("got %q, %v; want %q", out, err, want)
		}
	})
}

// A node keeps the newest part of a log that grows fast. All of it is in the store.
func TestALogWhoseBeginningIsGoneIsReadInTheStore(t *testing.T) {
	one, two, three := lineAt(1, 0, "one"), lineAt(2, 0, "two"), lineAt(3, 0, "three")
	tests := map[string]struct {
		node, store string
		tail        int
		want        string
	}{
		"the node has all":                {one + two + three, one + two, -1, one + two + three},
		"its first lines are gone":        {two + three, one + two + three, -1, one + two + three},
		"all its lines are gone":          {"", one + two + three, -1, one + two + three},
		"and they are not wanted":         {two + three, one + two + three, 2, two + three},
		"nothing is in the store":         {one + two, "", -1, one + two},
		"the end of a log is in no store": {one + two + three, one, -1, one + two + three},
	}
	for name, tt := range tests {
		for _, follow := range []bool{false, true} {
			inBubble(t, fmt.Sprint(name, ", follow ", follow), func(t *testing.T) {
				pod := member(0, 1, ended)
				pod.Finished = pod.Started.Add(rotateEvery)
				s := newFakeSource(logsOf(map[string]string{"h0-1": tt.node}), pod)
				s.pods.Set(Pods{List: []Pod{pod}, JobEnded: true})
				a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(tt.store)})
				out, err := readAll(t.Context(), s, a, Options{Follow: follow, Tail: tt.tail, Timestamps: true})
				if diff := cmp.Diff(shown(t, tt.want), out); diff != "" || err != nil {
					t.Errorf("%v (-want +got)\n%s", err, diff)
				}
			})
		}
	}
}

// What several hosts have in common is told once, however the hosts are numbered.
func TestErrorsOfSeveralHosts(t *testing.T) {
	errs := []error{errors.New("b"), errors.New("a"), nil, errors.New("b"), errors.New("a"), errEnded, errors.New("c")}
	r := newReader(newFakeSource(nil), withoutLog(), Options{Tail: -1, Host: -1, Hosts: len(errs)}, newPodTracker(nil, false))
	err := r.readHosts(t.Context(), display.Both(io.Discard), func(_ context.Context, host int, _ *Decoder) error { return errs[host] })
	if want := "b\na\nc"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func BenchmarkFollow(b *testing.B) {
	for _, size := range []struct{ hosts, lines int }{{1, 1_000_000}, {16, 50_000}} {
		b.Run(fmt.Sprintf("%d×%d", size.hosts, size.lines), func(b *testing.B) {
			var text strings.Builder
			for i := range size.lines {
				text.WriteString(lineAt(i/20000%60, i, fmt.Sprintf("line %d of what a job prints, neither long nor short", i)))
			}
			var pods []Pod
			for host := range size.hosts {
				pods = append(pods, member(host, 1, running(2)))
			}
			s := newFakeSource(func(_ context.Context, p Pod, _ OpenOptions) (io.ReadCloser, error) {
				if p.Host > 0 {
					return body(text.String()), nil
				}
				return io.NopCloser(io.MultiReader(strings.NewReader(text.String()), strings.NewReader(lineAt(59, 0, records.EndLine(followed))))), nil
			}, pods...)
			a := endedArchive()
			b.SetBytes(int64(text.Len() * size.hosts))
			b.ReportAllocs()
			for b.Loop() {
				out := &discard{}
				if err := Read(b.Context(), s, a, Options{Follow: true, Tail: -1, Host: -1, Hosts: size.hosts}, display.Both(out)); err != nil {
					b.Fatal(err)
				}
				if out.lines < size.hosts*size.lines {
					b.Fatalf("%d lines", out.lines)
				}
			}
		})
	}
}
