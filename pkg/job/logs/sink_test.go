package logs

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// sinks write the log of each host to a text of its own, with the numbers of attempts in between.
type sinks struct {
	mu    sync.Mutex
	hosts map[int]*strings.Builder
}

func (s *sinks) of(host int) Sink {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil {
		s.hosts = map[int]*strings.Builder{}
	}
	text := &strings.Builder{}
	s.hosts[host] = text
	return Sink{display.Both(text), func(n int) { fmt.Fprintf(text, "[%d]", n) }}
}

func (s *sinks) texts() map[int]string {
	texts := map[int]string{}
	for host, text := range s.hosts {
		texts[host] = text.String()
	}
	return texts
}

func TestSinksOfAStoredLog(t *testing.T) {
	objects := map[string]string{
		"0/1-1.log": stamped("a\n"), "0/1-2.log": stamped("b"), "0/2-1.log": stamped("c\n"),
		"3/2-1.log": stamped("d\n"),
	}
	for name, tt := range map[string]struct {
		o    Options
		want map[int]string
	}{
		"all hosts":   {Options{Tail: -1, Host: -1, Hosts: 4}, map[int]string{0: "[1]a\nb\n[2]c\n", 3: "[2]d\n"}},
		"one host":    {Options{Tail: -1, Host: 3, Hosts: 4}, map[int]string{3: "[2]d\n"}},
		"an attempt":  {Options{Tail: -1, Host: 0, Hosts: 4, Attempt: 1}, map[int]string{0: "[1]a\n[1]b"}},
		"a last line": {Options{Tail: 1, Host: 0, Hosts: 4}, map[int]string{0: "[2]c\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			var s sinks
			tt.o.Sink = s.of
			if err := Stored(t.Context(), storeWith(t, objects), jobID, tt.o, display.Both(io.Discard)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, s.texts()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Attempts whose pods are gone, and those of the pods, have their numbers.
func TestSinksOfPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newFakeSource(logsOf(map[string]string{"h0-3": lineAt(3, 0, "second"), "h1-4": lineAt(5, 0, "now")}), member(0, 3, running(4)), member(1, 4, ended))
		a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "gone"), attemptName(2): attemptRecord(2, "h0-3"),
			partName(1, 1, 1): stored(lineAt(1, 0, "before")), partName(0, 1, 1): stored(lineAt(1, 0, "first"))})
		var s sinks
		if _, err := readAll(t.Context(), src, a, Options{Tail: -1, Host: -1, Hosts: 2, Sink: s.of}); err != nil {
			t.Fatal(err)
		}
		want := map[int]string{0: "[1]first\n[2]second\n", 1: "[1]before\n[2]now\n"}
		if diff := cmp.Diff(want, s.texts()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
