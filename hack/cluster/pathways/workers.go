package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// workers is the resource manager: it knows which workers are there.
type workers struct {
	instance  instance
	instances int
	out       io.Writer

	mu      sync.Mutex
	there   map[[2]int]net.Conn // by slice and number
	changed chan struct{}       // closed at the next change
}

func newWorkers(i instance, instances int, out io.Writer) *workers {
	return &workers{instance: i, instances: instances, out: out, there: map[[2]int]net.Conn{}, changed: make(chan struct{})}
}

// answer serves a connection. One that says nothing is a probe.
func (m *workers) answer(ctx context.Context, c net.Conn) {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	lines := bufio.NewScanner(c)
	if !lines.Scan() {
		return
	}
	line := lines.Text()
	if line == "watch" {
		m.tell(c, lines)
		return
	}
	var w worker
	if _, err := fmt.Sscanf(line, "worker %d %d %d %s", &w.slice, &w.id, &w.hosts, &w.name); err != nil {
		fmt.Fprintf(m.out, "%s said %q, which is no worker\n", c.RemoteAddr(), line)
		return
	}
	if w.hosts != m.instance.hosts || w.id < 0 || w.id >= w.hosts || w.slice < 0 || w.slice >= m.instances {
		const refusal = "The newly added instance does not match with the expected instances"
		fmt.Fprintf(m.out, "%s: %s\n", refusal, w)
		fmt.Fprintf(c, "%s: %s\n", refusal, w)
		return
	}
	m.come(w, c)
	for lines.Scan() { // until the worker leaves
		continue
	}
	m.leave(w, c)
}

// come notes that a worker is there. It takes the place of one whose connection broke without a word.
func (m *workers) come(w worker, c net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.there[[2]int{w.slice, w.id}] = c
	m.change("%s has come: %s\n", w, m.count())
	if ready := m.ready(); ready == m.instances {
		fmt.Fprintf(m.out, "*** %d/%d Pathways Slices Now Ready ***\n", ready, m.instances)
	}
}

func (m *workers) leave(w worker, c net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]int{w.slice, w.id}
	if m.there[key] != c {
		return
	}
	delete(m.there, key)
	m.change("%s is gone: %s\n", w, m.count())
}

// change prints a line, and wakes those who watch.
func (m *workers) change(format string, args ...any) {
	fmt.Fprintf(m.out, format, args...)
	close(m.changed)
	m.changed = make(chan struct{})
}

// count says how many workers and chips are there.
func (m *workers) count() string {
	all := m.instance.hosts * m.instances
	perHost := m.instance.chips / m.instance.hosts
	return fmt.Sprintf("%d/%d workers %d/%d chips", len(m.there), all, len(m.there)*perHost, all*perHost)
}

// ready is the number of slices whose workers are all there.
func (m *workers) ready() int {
	hosts, ready := map[int]int{}, 0
	for key := range m.there {
		hosts[key[0]]++
		if hosts[key[0]] == m.instance.hosts {
			ready++
		}
	}
	return ready
}

// tell tells a watcher the count, at once and at each change, until it leaves.
func (m *workers) tell(c net.Conn, lines *bufio.Scanner) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for lines.Scan() {
			continue
		}
	}()
	last := ""
	for {
		m.mu.Lock()
		now, changed := m.count(), m.changed
		m.mu.Unlock()
		if now != last {
			if _, err := io.Copy(c, strings.NewReader(now+"\n")); err != nil {
				return
			}
		}
		last = now
		select {
		case <-gone:
			return
		case <-changed:
		}
	}
}
