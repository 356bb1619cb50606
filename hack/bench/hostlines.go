//go:build unix

package main

import (
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// hostLines is a writer that counts the lines of several hosts: each begins with its host,
// and the second or third word is a number.
type hostLines struct {
	hosts, lines int
	tallies      map[string]*tally
	absent       int // hosts whose last line has not arrived
	rest         []byte
	half         chan struct{} // closed when the middle line of the first host arrives
	full         chan struct{} // closed when the last lines of all hosts have arrived
	halfway      bool
}

func newHostLines(hosts, lines int) *hostLines {
	return &hostLines{hosts: hosts, lines: lines, tallies: map[string]*tally{}, absent: hosts, half: make(chan struct{}), full: make(chan struct{})}
}

// Write counts the lines in a piece of the output.
func (h *hostLines) Write(p []byte) (int, error) {
	h.rest = append(h.rest, p...)
	rest := h.rest
	for {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		if !whole {
			h.rest = append(h.rest[:0], rest...)
			return len(p), nil
		}
		rest = after
		host, words, _ := bytes.Cut(line, []byte{' '})
		for range 2 {
			var word []byte
			word, words, _ = bytes.Cut(words, []byte{' '})
			if n, err := strconv.Atoi(string(word)); err == nil && n >= 0 && n < h.lines {
				h.count(string(host), n)
				break
			}
		}
	}
}

func (h *hostLines) count(host string, n int) {
	t := h.tallies[host]
	if t == nil {
		t = newTally(h.lines)
		h.tallies[host] = t
	}
	t.count(n)
	if n == h.lines/2 && !h.halfway {
		h.halfway = true
		close(h.half)
	}
	if n == h.lines-1 && t.times[n] == 1 {
		if h.absent--; h.absent == 0 {
			close(h.full)
		}
	}
}

// damage returns the damage of all hosts, including those without any line.
func (h *hostLines) damage() damage {
	all := damage{}
	for _, t := range h.tallies {
		all = all.plus(t.damage())
	}
	if missing := h.hosts - len(h.tallies); missing > 0 {
		all.lost += missing * h.lines
	}
	return all
}

// listen runs a follower until it has printed the last lines of all hosts, for at most
// patience, and returns the lines and the cost. It ends the follower, because a job whose
// hosts stay has no end, and stern never exits.
func listen(ctx context.Context, cmd *exec.Cmd) (*hostLines, sample) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lines := newHostLines(hostCount, linesOfEach)
	return lines, lines.listen(ctx, cmd)
}

func (h *hostLines) listen(ctx context.Context, cmd *exec.Cmd) sample {
	ended := make(chan struct{})
	wall := make(chan time.Duration, 1)
	start := time.Now()
	go func() {
		select {
		case <-h.full:
			wall <- time.Since(start)
			select {
			case <-time.After(grace):
			case <-ended:
			}
		case <-ctx.Done():
			wall <- time.Since(start)
		case <-ended:
			wall <- time.Since(start)
		}
		if cmd.Process != nil {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have exited
		}
	}()
	cmd.Stdout = h
	s, _ := launch(cmd) // the lines show whether it worked
	close(ended)
	s.wall = <-wall
	return s
}
