package logs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const jobID = "cpu-train-20261120-082019-abc1234"

// countingStore remembers which objects were opened, and which were listed.
type countingStore struct {
	store.Store
	mu             sync.Mutex
	opened, listed []string
}

func (s *countingStore) List(ctx context.Context, prefix, start string) iter.Seq2[store.Object, error] {
	s.listed = append(s.listed, strings.TrimPrefix(prefix, store.Logs(jobID)))
	return s.Store.List(ctx, prefix, start)
}

func (s *countingStore) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, strings.TrimPrefix(name, store.Logs(jobID)))
	return s.Store.Open(ctx, name)
}

// storeWith makes a store in which the job has these objects below logs/.
func storeWith(t *testing.T, objects map[string]string) *countingStore {
	t.Helper()
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range objects {
		if err := s.Create(t.Context(), store.Logs(jobID)+name, strings.NewReader(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	return &countingStore{Store: s}
}

// everything is an attempt that was killed in mid-line, then one of twelve
// parts, the third of which ends in the middle of a very long line.
func everything() map[string]string {
	objects := map[string]string{
		"0/1-1.log": stamped("first 1\nfirst 2\n"),
		"0/1-2.log": stamped("first 3\nfirst unfinished"),
		// not ours:
		"0/notes.txt":   "not a log\n",
		"0/1-1.log.bak": "not a log\n",
		"0/2-01.log":    "not a log\n",
		"elsewhere.log": "not a log\n",
		"0/0/1-1.log":   "not a log\n",
		"-1/1-1.log":    "not a log\n",
	}
	for n, name := range []string{"0/2-1.log", "0/2-2.log", "0/2-3.log", "0/2-4.log", "0/2-5.log", "0/2-6.log",
		"0/2-7.log", "0/2-8.log", "0/2-9.log", "0/2-10.log", "0/2-11.log", "0/2-12.log"} {
		objects[name] = stamped(numbered(10*n+1, 10*n+10))
	}
	objects["0/2-3.log"] = stamped(numbered(21, 29) + "line ")
	objects["0/2-4.log"] = "30\n" + stamped(numbered(31, 40))
	return objects
}

func TestStored(t *testing.T) {
	all := Options{Tail: -1, Host: -1}
	first := "first 1\nfirst 2\nfirst 3\nfirst unfinished\n"
	option := func(change func(*Options)) Options {
		o := all
		change(&o)
		return o
	}
	tests := map[string]struct {
		o    Options
		want string
	}{
		"all, in the order of numbers": {all, first + numbered(1, 120)},
		"one attempt":                  {option(func(o *Options) { o.Attempt = 2 }), numbered(1, 120)},
		"one attempt, unfinished":      {option(func(o *Options) { o.Attempt = 1 }), strings.TrimSuffix(first, "\n")},
		"one host":                     {option(func(o *Options) { o.Host = 0 }), first + numbered(1, 120)},
		"since":                        {option(func(o *Options) { o.Since = begin.Add(9 * time.Second); o.Attempt = 2 }), "line 10\nline 20\nline 30\nline 40\nline 50\nline 60\nline 70\nline 80\nline 90\nline 100\nline 110\nline 120\n"},
		"tail of nothing":              {option(func(o *Options) { o.Tail = 0 }), ""},
		"tail of more than all":        {option(func(o *Options) { o.Tail = 1000 }), first + numbered(1, 120)},
		"tail across attempts":         {option(func(o *Options) { o.Tail = 122 }), "first 3\nfirst unfinished\n" + numbered(1, 120)},
		"tail of one line before":      {option(func(o *Options) { o.Tail = 121 }), "first unfinished\n" + numbered(1, 120)},
		"tail of an attempt":           {option(func(o *Options) { o.Tail = 2; o.Attempt = 1 }), "first 3\nfirst unfinished"},
		"tail of all":                  {option(func(o *Options) { o.Tail = 124 }), first + numbered(1, 120)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Stored(t.Context(), storeWith(t, everything()), jobID, tt.o, display.Both(&out)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStoredTail tries each number of lines, and so each way in which they can be
// distributed over parts.
func TestStoredTail(t *testing.T) {
	s := storeWith(t, everything())
	lines := strings.SplitAfter(numbered(1, 120), "\n")[:120]
	for n := range len(lines) + 1 {
		var out bytes.Buffer
		if err := Stored(t.Context(), s, jobID, Options{Tail: n, Host: -1, Attempt: 2}, display.Both(&out)); err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(lines[len(lines)-n:], ""); out.String() != want {
			t.Fatalf("tail %d: got %q, want %q", n, out.String(), want)
		}
	}
}

// The last lines may begin within a line of which only what comes later is shown.
func TestTheLastLinesOfSeveralHostsAsOfOne(t *testing.T) {
	begun := stampOf(0) + " begin of a line\x1f\n" + stampOf(1) + " \x1ewarning\n" + stampOf(2) + " and its rest\n"
	for name, tt := range map[string]struct {
		first, second string // attempts
		tail          int
		want          string
	}{
		"within a line":                    {begun, "", 1, "warning\n"},
		"after an attempt that was killed": {begun + stampOf(3) + " torn\x1f\n", stampOf(4) + " one\n" + stampOf(5) + " two\n", 2, "one\ntwo\n"},
	} {
		objects := map[string]string{"0/1-1.log": tt.first, "1/1-1.log": ""}
		if tt.second != "" {
			objects["0/2-1.log"] = tt.second
		}
		for _, o := range []Options{{Tail: tt.tail, Host: 0, Hosts: 1}, {Tail: tt.tail, Host: -1, Hosts: 2}} {
			var out bytes.Buffer
			err := Stored(t.Context(), storeWith(t, objects), jobID, o, display.Both(&out))
			got := bytes.ReplaceAll(out.Bytes(), []byte("host-0 │ "), nil)
			if string(got) != tt.want || err != nil {
				t.Errorf("%s, host %d: got %q, %v; want %q", name, o.Host, out.String(), err, tt.want)
			}
		}
	}
}

func TestStoredTailOpensOnlyWhatItNeeds(t *testing.T) {
	tests := map[string]struct {
		tail int
		want []string
	}{
		"nothing":             {0, nil},
		"a bit of one part":   {3, []string{"0/2-12.log", "0/2-12.log"}},
		"one whole part":      {10, []string{"0/2-12.log", "0/2-11.log", "0/2-12.log"}},
		"one and a bit":       {11, []string{"0/2-12.log", "0/2-11.log", "0/2-11.log", "0/2-12.log"}},
		"two whole parts":     {20, []string{"0/2-12.log", "0/2-11.log", "0/2-10.log", "0/2-11.log", "0/2-12.log"}},
		"three of many parts": {21, []string{"0/2-12.log", "0/2-11.log", "0/2-10.log", "0/2-10.log", "0/2-11.log", "0/2-12.log"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := storeWith(t, everything())
			if err := Stored(t.Context(), s, jobID, Options{Tail: tt.tail, Host: -1}, display.Both(io.Discard)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, s.opened); diff != "" {
				t.Errorf("opened (-want +got):\n%s", diff)
			}
		})
	}
}

// There may be hundreds of hosts, with thousands of parts each.
func TestOneLogIsFoundWithoutTheOthers(t *testing.T) {
	one := Options{Tail: -1, Host: 1}
	for name, tt := range map[string]struct {
		read func(store.Store, io.Writer) error
		want []string
	}{
		"of a host": {func(s store.Store, w io.Writer) error { return Stored(t.Context(), s, jobID, one, display.Both(w)) }, []string{"1/"}},
		"of an attempt of a host": {func(s store.Store, w io.Writer) error {
			a := Archive{Store: s, JobID: jobID}
			a.numbers.Store("", 2)
			_, err := a.Rest(t.Context(), Point{Host: 1}, w)
			return err
		}, []string{"1/2-"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeWith(t, map[string]string{"0/1-1.log": stamped("a\n"), "1/2-1.log": stamped("b\n"), "10/2-1.log": stamped("c\n")})
			var out bytes.Buffer
			if err := tt.read(s, &out); err != nil || !strings.HasSuffix(out.String(), "b\n") || strings.Count(out.String(), "\n") != 1 {
				t.Errorf("got %q, %v", out.String(), err)
			}
			if diff := cmp.Diff(tt.want, s.listed); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStoredHosts(t *testing.T) {
	long := strings.Repeat("x", 1<<20+10)
	s := storeWith(t, map[string]string{
		"0/1-1.log": stampOf(1) + " a\n" + stampOf(4) + " b",
		// A line that is continued in the next part, and one that the end of an
		// attempt has torn.
		"10/1-1.log": stampOf(2) + " e", "10/1-2.log": "e\n" + stampOf(3) + " torn", "10/2-1.log": stampOf(5) + " f\n",
		"2/1-1.log": stampOf(2) + " c\n" + stampOf(6) + " " + long + "\nno stamp\n" + stampOf(7) + " 1%\r2%\n",
	})
	cut := long[:1<<20] + "... [line cut at 1 MiB]"
	tests := map[string]struct {
		o    Options
		want string
	}{
		"all": {Options{Tail: -1, Host: -1}, "host-0 │ a\nhost-2 │ c\nhost-10 │ ee\nhost-10 │ torn\nhost-0 │ b\nhost-10 │ f\n" +
			"host-2 │ " + cut + "\nhost-2 │ no stamp\nhost-2 │ 2%\n"},
		"one":             {Options{Tail: -1, Host: 10}, "ee\ntorn\nf\n"},
		"tail of each":    {Options{Tail: 2, Host: -1}, "host-0 │ a\nhost-10 │ torn\nhost-0 │ b\nhost-10 │ f\nhost-2 │ no stamp\nhost-2 │ 2%\n"},
		"nothing of each": {Options{Tail: 0, Host: -1}, ""},
		"one attempt":     {Options{Tail: -1, Host: -1, Attempt: 2}, "host-10 │ f\n"},
		"in colour":       {Options{Tail: 1, Host: -1, Attempt: 2, Out: display.View{Color: true}}, "\x1b[34mhost-10 │ \x1b[0mf\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Stored(t.Context(), s, jobID, tt.o, display.Both(&out)); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A later attempt that wrote a lot has several parts, whose lines go on in the next part.
func TestStoredHostsJoinThePartsOfEachAttempt(t *testing.T) {
	s := storeWith(t, map[string]string{
		"0/1-1.log": stampOf(1) + " a\n",
		"1/1-1.log": stampOf(2) + " b1", "1/1-2.log": " b2\n",
		"1/2-1.log": stampOf(3) + " c1", "1/2-2.log": " c2\n" + stampOf(4)[:9], "1/2-3.log": stampOf(4)[9:] + " d\n" + stampOf(5) + " torn",
		"1/3-1.log": stampOf(6) + " e1", "1/3-2.log": " e2\n",
	})
	b, rest := "host-1 │ b1 b2\n", "host-1 │ c1 c2\nhost-1 │ d\nhost-1 │ torn\nhost-1 │ e1 e2\n"
	for name, tt := range map[string]struct {
		o    Options
		want string
	}{
		"all":                         {Options{Tail: -1, Host: -1}, "host-0 │ a\n" + b + rest},
		"tail from a later attempt":   {Options{Tail: 4, Host: -1}, "host-0 │ a\n" + rest},
		"tail from the first attempt": {Options{Tail: 5, Host: -1}, "host-0 │ a\n" + b + rest},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Stored(t.Context(), s, jobID, tt.o, display.Both(&out)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStoredHostsAreMergedWithinASecond(t *testing.T) {
	at := func(micro int) string { return fmt.Sprintf("2026-11-20T10:00:01.%06dZ ", micro) }
	s := storeWith(t, map[string]string{
		"0/1-1.log": at(500000) + "c\n" + at(900000) + "f\n",
		"1/1-1.log": at(100000) + "a\n" + at(500001) + "e\n",
		"2/1-1.log": at(499999) + "b\n" + at(500000) + "d\n", // at the same time as host 0
	})
	var out bytes.Buffer
	o := Options{Tail: -1, Host: -1, Timestamps: true}
	if err := Stored(t.Context(), s, jobID, o, display.Both(&out)); err != nil {
		t.Fatal(err)
	}
	want := "host-1 │ " + at(100000) + "a\nhost-2 │ " + at(499999) + "b\nhost-0 │ " + at(500000) + "c\n" +
		"host-2 │ " + at(500000) + "d\nhost-1 │ " + at(500001) + "e\nhost-0 │ " + at(900000) + "f\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// slowStore opens nothing until it is let.
type slowStore struct {
	store.Store
	asked *atomic.Int32
	let   <-chan struct{}
}

func (s slowStore) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	s.asked.Add(1)
	<-s.let
	return s.Store.Open(ctx, name)
}

// The first line does not wait for hundreds of answers, one after the other.
func TestTheLogsOfHostsAreOpenedAtTheSameTime(t *testing.T) {
	for _, tail := range []int{-1, 1} {
		synctest.Test(t, func(t *testing.T) {
			objects := map[string]string{}
			var want strings.Builder
			for host := range 2 * openers {
				objects[fmt.Sprintf("%d/1-1.log", host)] = stampOf(1) + " x\n" + stampOf(2) + fmt.Sprintf(" of %d\n", host)
				fmt.Fprintf(&want, "host-%d │ of %d\n", host, host)
			}
			let := make(chan struct{})
			s := slowStore{storeWith(t, objects).Store, &atomic.Int32{}, let}
			var out bytes.Buffer
			done := make(chan error, 1)
			go func() { done <- Stored(t.Context(), s, jobID, Options{Tail: tail, Host: -1}, display.Both(&out)) }()
			if synctest.Wait(); s.asked.Load() != openers {
				t.Errorf("%d logs are being opened, want %d", s.asked.Load(), openers)
			}
			close(let)
			if err := <-done; err != nil || !strings.HasSuffix(out.String(), want.String()) {
				t.Errorf("got %q, %v", out.String(), err)
			}
		})
	}
}

func TestStoredErrorsNameWhatThereIs(t *testing.T) {
	tests := map[string]struct {
		o    Options
		want string
	}{
		"host":    {Options{Tail: -1, Host: 3}, "no log of host 3, only of host 0"},
		"chunk":   {Options{Tail: -1, Host: 3, Chunks: true}, "chunk 3 has no log"},
		"attempt": {Options{Tail: -1, Attempt: 5, Host: -1}, "no log of attempt 5, only of attempt 1, 2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := Stored(t.Context(), storeWith(t, everything()), jobID, tt.o, display.Both(io.Discard))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), jobID) {
				t.Errorf("got %v, want it to say %q and the job", err, tt.want)
			}
		})
	}
}

func TestStoredWithoutAnyLog(t *testing.T) {
	var out bytes.Buffer
	if err := Stored(t.Context(), storeWith(t, nil), jobID, Options{Tail: 5, Host: 1, Attempt: 2}, display.Both(&out)); err != nil || out.Len() > 0 {
		t.Errorf("got %q, %v, want nothing", out.String(), err)
	}
}
