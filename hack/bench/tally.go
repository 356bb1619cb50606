//go:build unix

package main

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// tally is a writer of lines that begin with numbers from 0 up. It counts which of them
// arrived, how often and in what order, and ignores other lines.
type tally struct {
	times       []uint8 // how often each number arrived
	highest     int
	late        int // numbers that arrived after a higher one
	rest        []byte
	first, last time.Time
	half        chan struct{} // closed when the middle number arrives
	full        chan struct{} // closed when the highest number arrives
}

func newTally(lines int) *tally {
	return &tally{times: make([]uint8, lines), highest: -1, half: make(chan struct{}), full: make(chan struct{})}
}

// Write counts the lines in a piece of the output.
func (t *tally) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	for {
		line, rest, whole := bytes.Cut(t.rest, []byte{'\n'})
		if !whole {
			t.rest = append(t.rest[:0:0], line...)
			return len(p), nil
		}
		t.rest = rest
		word, _, _ := bytes.Cut(line, []byte{' '})
		if n, err := strconv.Atoi(string(word)); err == nil && n >= 0 && n < len(t.times) {
			t.count(n)
		}
	}
}

func (t *tally) count(n int) {
	t.last = time.Now()
	if t.highest < 0 {
		t.first = t.last
	}
	t.times[n]++
	if t.times[n] > 1 {
		return
	}
	if n < t.highest {
		t.late++
	}
	t.highest = max(t.highest, n)
	switch n {
	case len(t.times) / 2:
		close(t.half)
	case len(t.times) - 1:
		close(t.full)
	}
}

// damage counts the lines that were lost, doubled or late.
type damage struct{ lost, doubled, late int }

func (t *tally) damage() damage {
	d := damage{late: t.late}
	for _, times := range t.times {
		if times == 0 {
			d.lost++
			continue
		}
		d.doubled += int(times) - 1
	}
	return d
}

func (d damage) plus(e damage) damage {
	return damage{d.lost + e.lost, d.doubled + e.doubled, d.late + e.late}
}

func (d damage) String() string { return fmt.Sprintf("%d, %d, %d", d.lost, d.doubled, d.late) }

// rate returns the lines per second, from the first to the last.
func (t *tally) rate() float64 {
	return float64(t.highest) / t.last.Sub(t.first).Seconds()
}
