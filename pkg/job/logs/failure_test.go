package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// failing is an answer to a request for a log, such as an error.
type failing func() (io.ReadCloser, error)

func fails(r Reason) failing {
	return func() (io.ReadCloser, error) { return nil, &SourceError{r, errors.New("the node says no")} }
}

// breaks is an answer that always breaks at the same place.
func breaks() (io.ReadCloser, error) { return torn(lineAt(1, 0, "one")), nil }

// manyRequests is more requests than some minutes of waiting should take.
const manyRequests = 1000

// guarded returns a source, and a context that ends after many requests.
func guarded(t *testing.T, open func(context.Context, Pod, OpenOptions) (io.ReadCloser, error), pods ...Pod) (*fakeSource, context.Context) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	var s *fakeSource
	s = newFakeSource(func(ctx context.Context, p Pod, o OpenOptions) (io.ReadCloser, error) {
		if s.requests() > manyRequests {
			cancel()
		}
		return open(ctx, p, o)
	}, pods...)
	return s, ctx
}

// A node may be gone, or may have lost the container, before the log was read to its end.
func TestTheLogOfAnEndedContainerThatCannotBeRead(t *testing.T) {
	one, two := lineAt(1, 0, "one"), lineAt(2, 0, "two")
	const ever = time.Hour
	for name, tt := range map[string]struct {
		fail    failing
		lasts   time.Duration
		archive bool
		want    string // of the log
		refuse  string // why it can't be read
		warned  bool
	}{
		"the node has lost the container":              {fails(Unready), ever, true, one + two, "", false},
		"the node is gone":                             {fails(Temporary), ever, true, one + two, "", false},
		"the node answers again":                       {fails(Temporary), 10 * time.Second, true, one + two, "", false},
		"the API server is back":                       {fails(Unanswered), 10 * time.Minute, true, one + two, "", false},
		"the answer always breaks":                     {breaks, ever, true, one + two, "", false},
		"reading it is forbidden":                      {fails(Refused), ever, true, one, "the node says no", false},
		"the pod is gone":                              {fails(Gone), ever, true, one + two, "", false},
		"the node has lost the container, no archive":  {fails(Unready), ever, false, one, "", true},
		"the node is gone, no archive":                 {fails(Temporary), ever, false, one, "", true},
		"the node answers again, no archive":           {fails(Temporary), 10 * time.Second, false, one + two, "", false},
		"the answer always breaks, no archive":         {breaks, ever, false, one, "", true},
		"the API server is back, and no archive":       {fails(Unanswered), 10 * time.Minute, false, one + two, "", false},
		"the pod is gone, and no archive has its rest": {fails(Gone), ever, false, one, "", true},
	} {
		inBubble(t, name, func(t *testing.T) {
			tracker := newPodTracker(nil, false)
			pod := member(0, 1, running(1))
			tracker.update([]Pod{pod})
			var last time.Time
			s, ctx := guarded(t, func(_ context.Context, _ Pod, o OpenOptions) (io.ReadCloser, error) {
				switch {
				case o.Follow && last.IsZero():
					tracker.update([]Pod{member(0, 1, ended)})
					last = time.Now()
					return body(""), nil
				case !last.IsZero() && time.Since(last) < tt.lasts:
					return tt.fail()
				case !last.IsZero():
					return body(one + two), nil
				}
				return body(one), nil
			})
			a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(one + two)})
			a.WithoutLog = !tt.archive
			o := wholeLog
			o.Follow = true
			var out strings.Builder
			l := newReader(s, a, o, tracker).podLog(&pod, o, NewDecoder(display.Both(&out), Options{Timestamps: true}))
			err := l.read(ctx, ctx, t.Context())
			if (err == nil) != (tt.refuse == "") || err != nil && !strings.Contains(err.Error(), tt.refuse) {
				t.Errorf("got %v, want %q", err, tt.refuse)
			}
			if diff := cmp.Diff(shown(t, tt.want), out.String()); diff != "" {
				t.Errorf("after %d requests (-want +got)\n%s", s.requests(), diff)
			}
			if warned := len(s.warned) > 0; warned != tt.warned {
				t.Errorf("warned of %q", s.warned)
			}
		})
	}
}

// Servers close connections that are idle. That is neither the end nor a failure.
func TestACleanEndAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracker := newPodTracker(nil, false)
		pod := member(0, 1, running(1))
		tracker.update([]Pod{pod})
		time.AfterFunc(10*time.Minute, func() { tracker.update([]Pod{member(0, 1, ended)}) })
		s, ctx := guarded(t, func(_ context.Context, _ Pod, o OpenOptions) (io.ReadCloser, error) {
			return body(choosePart(busy, o)), nil
		})
		var out strings.Builder
		l := newReader(s, withoutLog(), wholeLog, tracker).podLog(&pod, wholeLog, NewDecoder(display.Both(&out), Options{Timestamps: true}))
		err := l.read(ctx, ctx, t.Context())
		if diff := cmp.Diff(shown(t, busy), out.String()); diff != "" || err != nil {
			t.Errorf("after %d requests: %v (-want +got)\n%s", s.requests(), err, diff)
		}
	})
}

// A container that waits to start has no log yet. It is not an error to request it.
func TestAContainerThatIsNotReadyYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracker := newPodTracker(nil, false)
		pod := member(0, 1, running(1))
		tracker.update([]Pod{pod})
		begin := time.Now()
		s, ctx := guarded(t, func(context.Context, Pod, OpenOptions) (io.ReadCloser, error) {
			if time.Since(begin) < 5*time.Minute {
				return fails(Unready)()
			}
			tracker.update([]Pod{member(0, 1, ended)})
			return body(busy), nil
		})
		var out strings.Builder
		a, _ := archiveOf(nil)
		l := newReader(s, a, wholeLog, tracker).podLog(&pod, wholeLog, NewDecoder(display.Both(&out), Options{Timestamps: true}))
		err := l.read(ctx, ctx, t.Context())
		if diff := cmp.Diff(shown(t, busy), out.String()); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}

// A job is started again in another pod when a node has lost one.
func TestTheAttemptAfterOneWhoseLogIsLost(t *testing.T) {
	lost := member(0, 1, func(p *Pod) { p.Ended, p.Lost = true, true })
	for name, archive := range map[string]bool{"with an archive": true, "without": false} {
		inBubble(t, name, func(t *testing.T) {
			first := lost
			want := "first\nagain\n"
			if !archive { // which alone has the log of a container that is lost
				first, want = member(0, 1, ended), "again\n"
			}
			s, ctx := guarded(t, func(_ context.Context, p Pod, _ OpenOptions) (io.ReadCloser, error) {
				if p.Name == "h0-1" {
					return fails(Unready)()
				}
				return body(lineAt(9, 0, "again") + lineAt(9, 1, records.EndLine(followed))), nil
			}, first, member(0, 5, running(6)))
			a, _ := archiveOf(map[string]string{"end.json": succeeded, attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(lineAt(1, 0, "first"))})
			a.WithoutLog = !archive
			out, err := readAll(ctx, s, a, Options{Follow: true, Tail: -1, Host: -1, Hosts: 1})
			if out != want || err != nil {
				t.Errorf("got %q, %v; want %q", out, err, want)
			}
			if again, _ := a.End(); again.Reason != "Completed" {
				t.Errorf("the end is %+v", again)
			}
		})
	}
}

// The last lines of a container that its node has lost are those of the archive.
func TestTheLastLinesOfAContainerThatIsLost(t *testing.T) {
	for tail, want := range map[int]string{0: "", 2: "three\nfour\n"} {
		s := newFakeSource(func(context.Context, Pod, OpenOptions) (io.ReadCloser, error) { return fails(Unready)() }, member(0, 1, ended))
		a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(busy)})
		if out, err := readAll(t.Context(), s, a, Options{Tail: tail}); err != nil || out != want {
			t.Errorf("tail %d: got %q, %v; want %q", tail, out, err, want)
		}
	}
}

// A log that is not followed comes from the same places, with less waiting.
func TestWhatAPodPrintedThatCannotBeReadAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		fail    failing
		fails   int // times
		archive bool
		want    string
		refuse  string
	}{
		"its pod is gone":           {fails(Gone), 1, true, "stored\n", ""},
		"and so is the log":         {fails(Gone), 1, false, "", "the node says no"},
		"the node has lost it":      {fails(Unready), manyRequests, true, "stored\n", ""},
		"the node is slow":          {fails(Temporary), 3, true, "one\n", ""},
		"the node is gone":          {fails(Temporary), manyRequests, true, "stored\n", ""},
		"the connection breaks":     {breaks, 3, true, "one\n", ""},
		"the API server comes back": {fails(Unanswered), 3, true, "one\n", ""},
		"the API server stays away": {fails(Unanswered), manyRequests, true, "stored\n", ""},
		"and there is no archive":   {fails(Unanswered), manyRequests, false, "", "the node says no"},
		"it is forbidden":           {fails(Refused), 1, true, "", "the node says no"},
	} {
		inBubble(t, name, func(t *testing.T) {
			asked := 0
			s, ctx := guarded(t, func(context.Context, Pod, OpenOptions) (io.ReadCloser, error) {
				if asked++; asked <= tt.fails {
					return tt.fail()
				}
				return body(lineAt(1, 0, "one")), nil
			}, member(0, 1, ended))
			a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(lineAt(1, 0, "stored"))})
			a.WithoutLog = !tt.archive
			out, err := readAll(ctx, s, a, Options{Tail: -1, Hosts: 1})
			if (err == nil) != (tt.refuse == "") || err != nil && !strings.Contains(err.Error(), tt.refuse) {
				t.Errorf("got %v, want %q", err, tt.refuse)
			}
			if out != tt.want {
				t.Errorf("after %d requests got %q, want %q", asked, out, tt.want)
			}
		})
	}
}

// If the log of a host fails, the others lose no line.
func TestAHostThatFailsDoesNotDisturbTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := guarded(t, func(_ context.Context, p Pod, _ OpenOptions) (io.ReadCloser, error) {
			if p.Host == 1 {
				return fails(Temporary)()
			}
			return body(lineAt(1, 0, "a line of "+p.Name)), nil
		}, member(0, 1, ended), member(1, 1, ended), member(2, 1, ended))
		s.pods.Set(Pods{List: []Pod{member(0, 1, ended), member(1, 1, ended), member(2, 1, ended)}, JobEnded: true, Grace: time.Minute})
		out, err := readAll(ctx, s, withoutLog(), Options{Follow: true, Tail: -1, Host: -1, Hosts: 3})
		lines := slices.Sorted(strings.Lines(out))
		if want := []string{"host-0 │ a line of h0-1\n", "host-2 │ a line of h2-1\n"}; err != nil || !slices.Equal(lines, want) || len(s.warned) != 1 {
			t.Errorf("got %q and warnings %q, %v; want %q", lines, s.warned, err, want)
		}
	})
}

// The same is true for a log that is not followed. The error is returned once the others are read.
func TestAHostThatFailsAtOnceDoesNotDisturbTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource(func(ctx context.Context, p Pod, _ OpenOptions) (io.ReadCloser, error) {
			if p.Host == 1 {
				return fails(Gone)()
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second):
				return body(lineAt(1, 0, "a line of "+p.Name)), nil
			}
		}, member(0, 1, ended), member(1, 1, ended), member(2, 1, ended))
		out, err := readAll(t.Context(), s, withoutLog(), Options{Tail: -1, Host: -1, Hosts: 3})
		lines := slices.Sorted(strings.Lines(out))
		if want := []string{"host-0 │ a line of h0-1\n", "host-2 │ a line of h2-1\n"}; reasonOf(err) != Gone || !slices.Equal(lines, want) {
			t.Errorf("got %q, %v; want %q", lines, err, want)
		}
	})
}

// If the pods can't be watched any more, what is known of them is read to its end.
func TestAWatchOfThePodsThatFails(t *testing.T) {
	failure := errors.New("forbidden")
	for name, tt := range map[string]struct {
		after time.Duration
		fail  failing // from then on
		want  string
	}{
		"after the first look": {0, nil, "one\n"},
		"later":                {time.Minute, nil, "one\n"},
		"after the first look, and the pod is gone": {0, fails(Gone), "one\ntwo\n"},
		"later, and the pod is gone":                {time.Minute, fails(Gone), "one\ntwo\n"},
	} {
		inBubble(t, name, func(t *testing.T) {
			begin := time.Now()
			s, ctx := guarded(t, func(_ context.Context, _ Pod, o OpenOptions) (io.ReadCloser, error) {
				switch {
				case tt.fail != nil && time.Since(begin) >= tt.after:
					return tt.fail()
				case o.Follow:
					return io.NopCloser(lateReader(5 * time.Second)), nil
				}
				return body(lineAt(1, 0, "one")), nil
			}, member(0, 1, running(5)))
			if tt.after == 0 {
				s.pods.Close(failure)
			} else {
				time.AfterFunc(tt.after, func() { s.pods.Close(failure) })
			}
			a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(lineAt(1, 0, "one") + lineAt(2, 0, "two"))})
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			out, err := readAll(ctx, s, a, Options{Follow: true, Tail: -1})
			if out != tt.want || !errors.Is(err, failure) || ctx.Err() != nil {
				t.Errorf("after %d requests got %q, %v; want %q, %v", s.requests(), out, err, tt.want, failure)
			}
		})
	}
}

// Without Follow, each host whose log can't be read is reported, and the others are printed.
func TestEachHostThatFailsIsToldOf(t *testing.T) {
	s := newFakeSource(func(_ context.Context, p Pod, _ OpenOptions) (io.ReadCloser, error) {
		if p.Host == 1 {
			return body(lineAt(1, 0, "one")), nil
		}
		return nil, &SourceError{Refused, fmt.Errorf("reading the log of pod %s: forbidden", p.Name)}
	}, member(0, 1, ended), member(1, 1, ended), member(2, 1, ended))
	out, err := readAll(t.Context(), s, withoutLog(), Options{Tail: -1, Host: -1, Hosts: 3})
	const want = "reading the log of pod h0-1: forbidden\nreading the log of pod h2-1: forbidden"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !strings.Contains(out, "one") {
		t.Errorf("printed %q", out)
	}
	for _, follow := range []bool{false, true} { // a reader that went away is reported once
		gone := errors.New("write |1: broken pipe")
		s := newFakeSource(func(context.Context, Pod, OpenOptions) (io.ReadCloser, error) {
			return body(lineAt(1, 0, "one")), nil
		}, member(0, 1, ended), member(1, 1, ended))
		err := Read(t.Context(), s, withoutLog(), Options{Tail: -1, Host: -1, Hosts: 2, Follow: follow},
			display.Both(writerFunc(func([]byte) (int, error) { return 0, gone })))
		if err == nil || strings.Count(err.Error(), gone.Error()) != 1 {
			t.Errorf("follow %v: got %v", follow, err)
		}
	}
}
