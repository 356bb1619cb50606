//go:build unix

package main

import (
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"time"
)

// hostLines is a writer that counts the lines of several hosts: each begins with its
// host, and a number is the second or third word.
type hostLines struct {
	hosts, lines int
	tallies      map[string]*tally
	absent       int // hosts whose last line has not come
	rest         []byte
	half         chan struct{} // closed when the number in the middle comes of the first host
	full         chan struct{} // closed when the last lines of all hosts have come
	begun        bool
}

func newHostLines(hosts, lines int) *hostLines {
	return &hostLines{hosts: hosts, lines: lines, tallies: map[string]*tally{}, absent: hosts, half: make(chan struct{}), full: make(chan struct{})}
}

// Write takes a piece of what was printed.
func (c *hostLines) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	rest := c.rest
	for {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		if !whole {
			c.rest = append(c.rest[:0], rest...)
			return len(p), nil
		}
		rest = after
		host, words, _ := bytes.Cut(line, []byte{' '})
		for range 2 {
			var word []byte
			word, words, _ = bytes.Cut(words, []byte{' '})
			if n, err := strconv.Atoi(string(word)); err == nil && n >= 0 && n < c.lines {
				c.count(string(host), n)
				break
			}
		}
	}
}

func (c *hostLines) count(host string, n int) {
	t := c.tallies[host]
	if t == nil {
		t = newTally(c.lines)
		c.tallies[host] = t
	}
	t.count(n)
	if n == c.lines/2 && !c.begun {
		c.begun = true
		close(c.half)
	}
	if n == c.lines-1 && t.times[n] == 1 {
		if c.absent--; c.absent == 0 {
			close(c.full)
		}
	}
}

// damage is that of all hosts, those included of which nothing came.
func (c *hostLines) damage() damage {
	all := damage{}
	for _, t := range c.tallies {
		all = all.plus(t.damage())
	}
	if missing := c.hosts - len(c.tallies); missing > 0 {
		all.lost += missing * c.lines
	}
	return all
}

// listen runs a follower until it has printed the last lines of all hosts, or longer
// than anybody would wait, and tells what that cost: a job whose hosts stay has no
// end, and stern never ends.
func listen(ctx context.Context, cmd *exec.Cmd) (*hostLines, sample) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := newHostLines(hostCount, linesOfEach)
	return c, c.listen(ctx, cmd)
}

func (c *hostLines) listen(ctx context.Context, cmd *exec.Cmd) sample {
	ended := make(chan struct{})
	wall := make(chan time.Duration, 1)
	start := time.Now()
	go func() {
		select {
		case <-c.full:
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
			_ = cmd.Process.Kill() // it may have ended
		}
	}()
	cmd.Stdout = c
	_ = cmd.Run() // the lines tell
	close(ended)
	s := spent(cmd)
	s.wall = <-wall
	return s
}
