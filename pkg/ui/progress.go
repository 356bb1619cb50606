package ui

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// redrawEvery keeps a bar from costing more than what it measures.
	redrawEvery = 100 * time.Millisecond
	barCells    = 24
	eraseLine   = "\r\x1b[K"
	// tellEvery is how often a text is told where nothing can be drawn over.
	tellEvery = 10 * time.Second
)

// Progress is a bar that fills up while bytes are moved, or a text that says how far
// something is. The bar is drawn on a terminal only, the text told elsewhere too. It is
// safe for concurrent use.
type Progress struct {
	ui          *UI
	label       string
	done, total int64
	text        string // in place of the bytes
	told        string // the last text that was told off a terminal
	began       time.Time
	drawn       time.Time
}

// Progress shows a bar until Done, with what is happening (`uploading`) and out
// of how many bytes; a total of 0 is one that is not known. One bar is shown at
// a time: a second one takes the place of the first.
func (u *UI) Progress(label string, total int64) *Progress {
	return u.begin(&Progress{ui: u, label: Clean(label), total: total})
}

// Telling shows instead of a bar, until Done, a text that says how far something
// is that is not counted in bytes. Show gives it the next one.
func (u *UI) Telling(label, text string) *Progress {
	p := u.begin(&Progress{ui: u, label: Clean(label), text: Clean(text)})
	p.Show(text)
	return p
}

func (u *UI) begin(p *Progress) *Progress {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bar, p.began = p, u.now()
	p.draw(p.began)
	return p
}

// Add counts n more bytes.
func (p *Progress) Add(n int64) {
	p.ui.mu.Lock()
	defer p.ui.mu.Unlock()
	p.done += n
	if now := p.ui.now(); now.Sub(p.drawn) >= redrawEvery {
		p.draw(now)
	}
}

// Show puts another text instead of the one before. Off a terminal it is a line,
// now and then.
func (p *Progress) Show(text string) {
	p.ui.mu.Lock()
	defer p.ui.mu.Unlock()
	p.text = Clean(text)
	now := p.ui.now()
	switch since := now.Sub(p.drawn); {
	case p.ui.style.Redraw && since >= redrawEvery:
		p.draw(now)
	case !p.ui.style.Redraw && since >= tellEvery && p.text != p.told:
		p.drawn, p.told = now, p.text
		p.ui.print(p.line(now))
	}
}

// Done takes the bar off the terminal. Defer it: a bar must go however the work
// ends. What was achieved is for Phase to say.
func (p *Progress) Done() {
	p.ui.mu.Lock()
	defer p.ui.mu.Unlock()
	if p.ui.bar != p {
		return
	}
	p.ui.erase()
	p.ui.bar = nil
}

// erase leaves the cursor on an empty line. The caller holds the lock.
func (u *UI) erase() {
	if u.bar != nil && u.style.Redraw {
		_, _ = io.WriteString(u.w, eraseLine)
	}
}

// draw writes the bar over itself. The caller holds the lock.
func (p *Progress) draw(now time.Time) {
	if p.ui.bar != p || !p.ui.style.Redraw {
		return
	}
	p.drawn = now
	// The last column stays free: some terminals go to the next line when it
	// is written to.
	line := []rune(p.line(now))
	line = line[:min(len(line), p.ui.style.Columns-1)]
	_, _ = io.WriteString(p.ui.w, eraseLine+string(line))
}

func (p *Progress) line(now time.Time) string {
	if p.text != "" {
		return fmt.Sprintf("%-10s  %s", p.label, p.text)
	}
	moved := Bytes(p.done)
	if p.total > 0 {
		share := min(float64(p.done)/float64(p.total), 1)
		bar := strings.Repeat("=", int(share*barCells))
		moved = fmt.Sprintf("[%-*s] %3d%%  %s of %s", barCells, bar, int(share*100), moved, Bytes(p.total))
	}
	line := fmt.Sprintf("%-10s  %s", p.label, moved)
	if elapsed := now.Sub(p.began); elapsed >= time.Second {
		line += fmt.Sprintf("  %s/s", Bytes(int64(float64(p.done)/elapsed.Seconds())))
	}
	return line
}
