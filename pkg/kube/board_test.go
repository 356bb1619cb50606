package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// stands is a snapshot of a set with these pods.
func stands(pods ...corev1.Pod) snapshot {
	s := snapshot{Workload: asWorkload(lws()), pods: map[types.UID]*corev1.Pod{}}
	for _, p := range pods {
		s.pods[p.UID] = &p
	}
	return s
}

func TestAttemptsOfPods(t *testing.T) {
	leader, worker := func(made int) corev1.Pod { return member(0, made, running(made)) }, func(made int) corev1.Pod { return member(1, made, running(made)) }
	records := []api.Attempt{{Attempt: 1, UID: "gone"}, {Attempt: 2, UID: "h0-3"}}
	tests := map[string]struct {
		known  []api.Attempt
		posted []snapshot
		ask    corev1.Pod
		want   int
		gone   int
	}{
		"the first pod is the first attempt":       {nil, []snapshot{stands(leader(1))}, leader(1), 1, 0},
		"pods that went are remembered":            {nil, []snapshot{stands(leader(1)), stands(leader(4))}, leader(4), 2, 1},
		"the store knows of earlier ones":          {records, []snapshot{stands(leader(3))}, leader(3), 2, 1},
		"one that is not recorded comes after all": {records, []snapshot{stands(leader(7))}, leader(7), 3, 2},
		"a worker is of its leader's attempt":      {records, []snapshot{stands(leader(3), worker(4)), stands(leader(7), worker(8))}, worker(8), 3, 2},
		"a leader that went is of the last record": {records, []snapshot{stands(worker(4))}, worker(4), 2, 1},
		"also when there is another one":           {records, []snapshot{stands(leader(3), worker(4)), stands(leader(7), worker(4))}, worker(4), 2, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBoard(tt.known, false)
			for _, s := range tt.posted {
				b.post(s)
			}
			if got, gone := b.attemptOf(tt.ask), b.gone(status.HostOf(tt.ask)); got != tt.want || len(gone) != tt.gone {
				t.Errorf("attempt %d, and %d before it are gone; want %d and %d", got, len(gone), tt.want, tt.gone)
			}
		})
	}
}

// The attempts of a map are of each chunk, whichever starts again.
func TestBoardOfAMap(t *testing.T) {
	chunk := func(number, sec int) corev1.Pod {
		p := pod(fmt.Sprintf("c%d-%d", number, sec), sec, running(sec))
		p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(number)}
		return p
	}
	b := newBoard([]api.Attempt{{Attempt: 1, Host: 3, UID: "lost"}, {Attempt: 1, Host: 2, UID: "c2-2"}, {Attempt: 2, Host: 3, UID: "c3-4"}}, true)
	b.post(stands(chunk(0, 1), chunk(2, 2), chunk(3, 4), chunk(2, 9)))
	for _, tt := range []struct {
		pod           corev1.Pod
		attempt, gone int
	}{{chunk(0, 1), 1, 0}, {chunk(2, 2), 1, 0}, {chunk(2, 9), 2, 0}, {chunk(3, 4), 2, 1}} {
		got, gone := b.of(tt.pod), b.gone(status.HostOf(tt.pod))
		if got.number != tt.attempt || got.leader != tt.pod.UID || len(gone) != tt.gone {
			t.Errorf("%s: %+v, of which %v are gone; want attempt %d", tt.pod.UID, got, gone, tt.attempt)
		}
	}
}

func TestTheNextPodToRead(t *testing.T) {
	a, b, later := pod("a", 1, terminated(137, "", "")), pod("b", 3, running(4)), pod("c", 9, waiting(""))
	failure := errors.New("forbidden")
	tests := map[string]struct {
		options logs.Options
		done    string
		close   error // unless nil
		want    string
	}{
		"the first":               {wholeLog, "", nil, "a"},
		"the one after":           {wholeLog, "a", nil, "b"},
		"none that has not begun": {wholeLog, "b", errors.New("over"), "over"},
		"of a tail the last":      {logs.Options{Tail: 3, Host: -1, Attempt: 2}, "", nil, "b"},
		"or that has begun":       {logs.Options{Tail: 3, Host: -1}, "", failure, "b"},
		"and none before it":      {logs.Options{Tail: 3, Host: -1}, "b", failure, "forbidden"},
		"one attempt":             {logs.Options{Tail: -1, Attempt: 2}, "", nil, "b"},
		"and no other":            {logs.Options{Tail: -1, Attempt: 1}, "a", nil, "none"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &reader{options: tt.options, board: newBoard(nil, false)}
			s := snapshot{Workload: asWorkload(job()), pods: map[types.UID]*corev1.Pod{"a": &a, "b": &b, "c": &later}}
			r.board.post(s)
			if tt.close != nil {
				r.board.close(tt.close)
			}
			done := map[types.UID]bool{}
			if tt.done != "" {
				done[types.UID(tt.done)] = true
			}
			p, last, err := r.next(t.Context(), 0, done)
			got := p.Name
			switch {
			case err != nil:
				got = err.Error()
			case last:
				got = "none"
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// hosts serves the logs of the pods of a group. Followed, they stay open until the
// reader leaves, as those of hosts do that wait to be released.
type hosts struct{ logs map[string]string }

func (h hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := path.Base(path.Dir(r.URL.Path))
	log, there := h.logs[name]
	if !there {
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	_, _ = io.WriteString(w, from(log, "", r.URL.Query().Get("tailLines")))
	if r.URL.Query().Get("follow") != "" {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func readerOf(t *testing.T, h hosts, o logs.Options) *reader {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	client, err := NewClient(&rest.Config{Host: server.URL, QPS: -1}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &reader{workload: New(client), id: "cpu-f", options: o, board: newBoard(nil, false)}
}

func TestTheEndLineOfTheLeaderEndsTheLogsOfAllHosts(t *testing.T) {
	const lines = 2000
	var text strings.Builder
	for i := range lines {
		text.WriteString(line(1, i, fmt.Sprintf("line %d", i)))
	}
	o := logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: 3, Ended: func(context.Context) bool { return true }}
	r := readerOf(t, hosts{map[string]string{"h0-1": text.String() + line(3, 0, logs.EndLine("cpu-f")), "h1-2": text.String(), "h2-2": text.String()}}, o)
	r.board.post(stands(member(0, 1, running(2)), member(1, 2, running(2)), member(2, 2, running(2))))
	var out strings.Builder
	if err := r.all(t.Context(), screen.Both(&out), r.follow); err != nil {
		t.Fatal(err)
	}
	next := map[string]int{}
	for l := range strings.Lines(out.String()) {
		host, said, _ := strings.Cut(l, " │ ")
		if want := fmt.Sprintf("line %d\n", next[host]); said != want {
			t.Fatalf("%s: %q, want %q", host, said, want)
		}
		next[host]++
	}
	if diff := cmp.Diff(map[string]int{"host-0": lines, "host-1": lines, "host-2": lines}, next); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What is left of a host whose pod is gone is in the store, under its number and
// the attempt of its leader; so are the attempts before.
func TestHostsWhosePodsAreGoneAreReadInTheStore(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	o := logs.Options{Tail: -1, Host: 1, Hosts: 2, Rest: func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, fmt.Sprintf("host %d of %s", p.Host, p.Pod))
		_, err := io.WriteString(w, stored(line(1, 0, "of "+p.Pod)))
		return p, err
	}}
	r := readerOf(t, hosts{map[string]string{"h1-4": line(5, 0, "now")}}, o)
	r.board = newBoard([]api.Attempt{{Attempt: 1, UID: "gone"}, {Attempt: 2, UID: "h0-3"}}, false)
	r.board.post(stands(member(0, 3, running(4)), member(1, 4, terminated(0, "", ""))))
	var out strings.Builder
	if err := r.all(t.Context(), screen.Both(&out), r.printed); err != nil {
		t.Fatal(err)
	}
	if want := "of gone\nnow\n"; out.String() != want || len(asked) != 1 || asked[0] != "host 1 of gone" {
		t.Errorf("got %q from %v, want %q", out.String(), asked, want)
	}
	s := r.stream(member(1, 4, running(4)), o, io.Discard)
	if p := s.point(); p.Host != 1 || p.Pod != "h0-3" {
		t.Errorf("its point is %+v, want host 1 of its leader", p)
	}
}

// The last lines of a host whose pods are all gone are in the store, too. What begins
// after that is followed from its first line.
func TestTheLastLinesOfAHostWhosePodsAreGone(t *testing.T) {
	leader, begins := member(0, 3, running(4)), member(1, 4, waiting("ContainerCreating"))
	for name, tt := range map[string]struct {
		tail   int
		follow bool
		pods   []corev1.Pod
		want   string
	}{
		"of an attempt that is over": {7, false, []corev1.Pod{member(0, 3, terminated(1, "", ""))}, "7 lines of h0-3\n"},
		"while another one starts":   {7, false, []corev1.Pod{leader}, "7 lines of gone\n"},
		"and has a pod":              {7, false, []corev1.Pod{leader, begins}, "7 lines of gone\n"},
		"no lines":                   {0, false, []corev1.Pod{leader}, ""},
		"its pod has them":           {1, false, []corev1.Pod{leader, member(1, 4, terminated(1, "", ""))}, "b\n"},
		"so has one that is over":    {1, false, []corev1.Pod{leader, member(1, 4, terminated(1, "", "")), member(1, 9, waiting(""))}, "b\n"},
		"and all that follows":       {1, true, []corev1.Pod{leader}, "1 lines of gone\na\nb\n"},
		"of a pod that waited, too":  {1, true, []corev1.Pod{leader, begins}, "1 lines of gone\na\nb\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var r *reader
			o := logs.Options{Follow: tt.follow, Tail: tt.tail, Host: 1, Hosts: 2}
			o.Rest = func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
				if tt.follow {
					r.board.post(stands(leader, member(1, 4, terminated(0, "", ""))))
					r.board.close(nil)
				}
				_, err := io.WriteString(w, stored(line(1, 0, fmt.Sprintf("%d lines of %s", p.Tail, p.Pod))))
				return p, err
			}
			r = readerOf(t, hosts{map[string]string{"h1-4": line(5, 0, "a") + line(5, 1, "b")}}, o)
			r.board = newBoard([]api.Attempt{{Attempt: 1, UID: "gone"}, {Attempt: 2, UID: "h0-3"}}, false)
			r.board.post(stands(tt.pods...))
			read := r.printed
			if tt.follow {
				read = r.follow
			}
			var out strings.Builder
			if err := r.all(t.Context(), screen.Both(&out), read); err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.want {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
		})
	}
}

// A node may tell of a container's start after the job's end.
func TestAHostThatHasNotBegunWhenTheJobHasEndedIsReadInTheStore(t *testing.T) {
	o := logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: 2, Ended: func(context.Context) bool { return true }}
	o.Rest = func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
		_, err := io.WriteString(w, stored(line(2, 0, fmt.Sprintf("of host %d of %s", p.Host, p.Pod))))
		return p, err
	}
	r := readerOf(t, hosts{map[string]string{"h0-1": line(1, 0, "one") + line(3, 0, logs.EndLine("cpu-f"))}}, o)
	r.board.post(stands(member(0, 1, terminated(0, "", "")), member(1, 2, waiting(""))))
	var out strings.Builder
	if err := r.all(t.Context(), screen.Both(&out), r.follow); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("host-0 │ one\nhost-1 │ of host 1 of h0-1\n", out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheAttemptsInWhichAHostHasNoPodAnyMore(t *testing.T) {
	removed := func(p corev1.Pod) corev1.Pod {
		p.DeletionTimestamp = new(at(8))
		return p
	}
	tests := map[string]struct {
		pods []corev1.Pod
		want []int
	}{
		"its pod is there":                   {[]corev1.Pod{member(0, 3, running(4)), member(1, 4, running(4))}, []int{1}},
		"its pod may yet come":               {[]corev1.Pod{member(0, 3, running(4))}, []int{1}},
		"it went before its leader":          {[]corev1.Pod{removed(member(0, 3, running(4)))}, []int{1, 2}},
		"its leader has ended":               {[]corev1.Pod{member(0, 3, terminated(1, "", ""))}, []int{1, 2}},
		"it went and its leader is followed": {[]corev1.Pod{removed(member(0, 3, running(4))), member(0, 9, running(9)), member(1, 9, running(9))}, []int{1, 2}},
		"its leader went before it":          {[]corev1.Pod{member(1, 4, running(4))}, []int{1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBoard([]api.Attempt{{Attempt: 1, UID: "gone"}}, false)
			b.post(stands(member(0, 3, running(4)), member(1, 4, running(4))))
			b.post(stands(tt.pods...))
			var got []int
			for _, a := range b.gone(1) {
				got = append(got, a.number)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A node keeps the newest part of a log that grows fast. All of it is in the store.
func TestALogWhoseBeginningIsGoneIsReadInTheStore(t *testing.T) {
	one, two, three := line(1, 0, "one"), line(2, 0, "two"), line(3, 0, "three")
	tests := map[string]struct {
		node, store string
		tail        int
		want        string
	}{
		"the node has all":                {one + two + three, one + two, -1, one + two + three},
		"its first lines are gone":        {two + three, one + two + three, -1, one + two + three},
		"and nobody asked for them":       {two + three, one + two + three, 2, two + three},
		"nothing is in the store":         {one + two, "", -1, one + two},
		"the end of a log is in no store": {one + two + three, one, -1, one + two + three},
	}
	state := terminated(0, "", "")
	state.Terminated.FinishedAt = at(2 + int(rotateEvery/time.Second))
	for name, tt := range tests {
		for _, follow := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", follow ", follow), func(t *testing.T) {
				o := logs.Options{Follow: follow, Tail: tt.tail, Timestamps: true, Rest: func(_ context.Context, p logs.Point, w io.Writer) (logs.Point, error) {
					if p.Lines > 0 {
						return p, nil
					}
					p.Lines = strings.Count(tt.store, "\n")
					_, err := io.WriteString(w, stored(tt.store))
					return p, err
				}}
				r := readerOf(t, hosts{map[string]string{"h0-1": tt.node}}, o)
				r.board.post(stands(member(0, 1, state)))
				r.board.close(nil)
				read := r.printed
				if follow {
					read = r.follow
				}
				var out strings.Builder
				if err := r.all(t.Context(), screen.Both(&out), read); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(stored(tt.want), out.String()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}
