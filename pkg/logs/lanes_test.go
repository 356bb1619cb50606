package logs

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// strict is a writer that takes whole lines, from one host at a time.
type strict struct {
	t    *testing.T
	busy sync.Mutex
	bytes.Buffer
}

// Write implements io.Writer.
func (s *strict) Write(b []byte) (int, error) {
	if !s.busy.TryLock() {
		s.t.Error("two hosts write at a time")
		return len(b), nil
	}
	defer s.busy.Unlock()
	if b[len(b)-1] != '\n' {
		s.t.Errorf("not a whole line: %q", b)
	}
	return s.Buffer.Write(b)
}

func TestLanesKeepTheLinesOfEachHostWholeAndInOrder(t *testing.T) {
	const hosts, lines = 7, 300
	out := &strict{t: t}
	lanes := NewLanes(Both(out), Options{Host: -1, Hosts: hosts})
	var wait sync.WaitGroup
	for host := range hosts {
		wait.Go(func() {
			lane := lanes.Host(host)
			writeIn(t, lane, strings.TrimSuffix(stamped(numbered(1, lines)), "\n"), 3+11*host)
			if err := lane.Next(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	of := map[string]string{}
	for line := range strings.Lines(out.String()) {
		host, text, _ := strings.Cut(line, " │ ")
		of[host] += text
	}
	for host := range hosts {
		if of[fmt.Sprintf("host-%d", host)] != numbered(1, lines) {
			t.Errorf("host %d: %.100q …", host, of[fmt.Sprintf("host-%d", host)])
		}
	}
}

func TestALaneEndsWhatAnAttemptLeftUnfinished(t *testing.T) {
	var out bytes.Buffer
	lane := NewLanes(Both(&out), Options{Host: -1, Hosts: 2}).Host(1)
	writeIn(t, lane, stamped("10%\r20%"), 100)
	if err := lane.Next(); err != nil {
		t.Fatal(err)
	}
	writeIn(t, lane, stamped("again\nand\r"), 100)
	if err := lane.Next(); err != nil {
		t.Fatal(err)
	}
	if want := "host-1 │ 20%\nhost-1 │ again\nhost-1 │ and\r\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func BenchmarkLane(b *testing.B) {
	block := []byte(stamped(numbered(1, 500)))
	lane := NewLanes(Both(io.Discard), Options{Host: -1, Hosts: 2}).Host(1)
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = lane.Write(block)
	}
}

func TestLanesOfAMapAreItsChunks(t *testing.T) {
	var out bytes.Buffer
	lane := NewLanes(Both(&out), Options{Host: -1, Hosts: 2, Chunks: true}).Host(1)
	writeIn(t, lane, stamped("a\n"), 100)
	if got := out.String(); got != "chunk-1 │ a\n" {
		t.Errorf("got %q", got)
	}
}
