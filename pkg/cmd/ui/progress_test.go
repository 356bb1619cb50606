package ui

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"
)

// screen is what a terminal shows after these bytes, with \r and "erase to the
// end of the line" understood.
func screen(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		parts := strings.Split(line, eraseLine)
		lines[i] = parts[len(parts)-1]
	}
	return strings.Join(lines, "\n")
}

func TestBarIsDrawnTenTimesASecondAtMost(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	bar := NewStyled(&out, c.now, Style{Redraw: true, Columns: 80}).Progress("uploading", 1000)
	for range 1000 {
		c.pass(time.Millisecond)
		bar.Add(1)
	}
	if got := strings.Count(out.String(), eraseLine); got != 11 {
		t.Errorf("drawn %d times in a second, want once at the start and then 10 times", got)
	}
}

func TestBarFitsTheLine(t *testing.T) {
	for columns, want := range map[int]int{1: 0, 30: 29, 0: 59, 200: 59} {
		var out bytes.Buffer
		NewStyled(&out, newClock().now, Style{Redraw: true, Columns: columns}).Progress("uploading", 1<<20)
		if got := len(screen(out.String())); got != want {
			t.Errorf("%d columns: the bar takes %d, want %d", columns, got, want)
		}
	}
}

// A text is drawn over itself on a terminal, and told now and then elsewhere.
func TestShow(t *testing.T) {
	for name, tt := range map[string]struct {
		redraw bool
		want   string
	}{
		"a terminal": {true, "map         12 done"},
		"a pipe":     {false, "map         0 done\nmap         10 done\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c := newClock()
			bar := NewStyled(&out, c.now, Style{Redraw: tt.redraw, Columns: 80}).ProgressText("map", "0 done")
			for n := range 13 {
				bar.Show(strconv.Itoa(n) + " done")
				c.pass(time.Second)
			}
			if got := screen(out.String()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A text is there from the beginning, and off a terminal is not told again as long as
// it stays the same.
func TestTelling(t *testing.T) {
	for name, tt := range map[string]struct {
		redraw      bool
		first, want string
	}{
		"a terminal": {true, eraseLine + "map         0 of 9", "map         5 of 9"},
		"a pipe":     {false, "map         0 of 9\n", "map         0 of 9\nmap         5 of 9\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c := newClock()
			bar := NewStyled(&out, c.now, Style{Redraw: tt.redraw, Columns: 80}).ProgressText("map", "0 of 9")
			if out.String() != tt.first {
				t.Errorf("begins with %q, want %q", out.String(), tt.first)
			}
			for _, text := range []string{"0 of 9", "0 of 9", "5 of 9", "5 of 9"} {
				c.pass(time.Minute)
				bar.Show(text)
			}
			if got := screen(out.String()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Data that goes to the same terminal stands above the bar.
func TestAbove(t *testing.T) {
	var out bytes.Buffer
	u := NewStyled(&out, newClock().now, Style{Redraw: true, Columns: 80})
	w := u.Above(&out)
	bar := u.ProgressText("map", "0 done")
	_, _ = io.WriteString(w, "1\n")
	bar.Done()
	_, _ = io.WriteString(w, "2\n")
	if got := screen(out.String()); got != "1\n2\n" {
		t.Errorf("got %q", got)
	}
}

func TestBarIsSilentInAPipe(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	u := New(&out, c.now)
	bar := u.Progress("uploading", 1000)
	c.pass(time.Second)
	bar.Add(500)
	bar.Done()
	if out.Len() > 0 {
		t.Errorf("wrote %q", out.String())
	}
}

func TestBarLeavesNothingBehind(t *testing.T) {
	tests := map[string]struct {
		end  func(u *UI, bar *Progress)
		want string
	}{
		"Done":                         {func(_ *UI, bar *Progress) { bar.Done() }, ""},
		"Done twice":                   {func(_ *UI, bar *Progress) { bar.Done(); bar.Done() }, ""},
		"bytes after Done":             {func(_ *UI, bar *Progress) { bar.Done(); bar.Add(1) }, ""},
		"a note in between":            {func(u *UI, bar *Progress) { u.Note("hello"); bar.Done() }, "hello\n"},
		"a second bar takes its place": {func(u *UI, bar *Progress) { u.Progress("b", 0); bar.Add(1); bar.Done() }, "b           0 B"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c := newClock()
			u := NewStyled(&out, c.now, Style{Redraw: true, Columns: 80})
			bar := u.Progress("uploading", 1000)
			c.pass(time.Second)
			bar.Add(500)
			if got := screen(out.String()); !strings.HasPrefix(got, "uploading") {
				t.Fatalf("the bar is not there: %q", got)
			}
			c.pass(time.Second)
			tt.end(u, bar)
			if got := screen(out.String()); got != tt.want {
				t.Errorf("the terminal shows %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBarLine(t *testing.T) {
	tests := map[string]struct {
		done, total int64
		elapsed     time.Duration
		want        string
	}{
		"start":              {0, 1 << 20, 0, "uploading   [                        ]   0%  0 B of 1.0 MiB"},
		"half, with a rate":  {512 << 10, 1 << 20, 2 * time.Second, "uploading   [============            ]  50%  512 KiB of 1.0 MiB  256 KiB/s"},
		"full":               {1 << 20, 1 << 20, 4 * time.Second, "uploading   [========================] 100%  1.0 MiB of 1.0 MiB  256 KiB/s"},
		"more than promised": {2 << 20, 1 << 20, 0, "uploading   [========================] 100%  2.0 MiB of 1.0 MiB"},
		"total not known":    {3 << 20, 0, time.Second, "uploading   3.0 MiB  3.0 MiB/s"},
		"very large":         {1 << 59, 1 << 60, 0, "uploading   [============            ]  50%  512.0 PiB of 1024.0 PiB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			bar := New(io.Discard, c.now).Progress("uploading", tt.total)
			bar.done = tt.done
			if got := bar.line(c.at.Add(tt.elapsed)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}
