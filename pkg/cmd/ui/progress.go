package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

const (
	// redrawEvery keeps a bar from costing more than the work that it measures.
	redrawEvery = 100 * time.Millisecond
	barCells    = 24
	eraseLine   = "\r\x1b[K"
	// printEvery is how often a text is printed where it can't be redrawn.
	printEvery = 10 * time.Second
	// sendEvery is how often programs are told how far something is.
	sendEvery = 500 * time.Millisecond
)

// Progress is a bar that fills up while bytes are moved, or a text that says how far
// something is. The bar is only drawn on a terminal; the text is also printed elsewhere.
// It is safe for concurrent use.
type Progress struct {
	ui          *UI
	label       string
	done, total int64
	text        string // instead of the bytes
	printed     string // the last text that was printed off a terminal
	counts      bool   // done and total are known, whether they are bytes or not
	sent        int64  // the last value of done that a program was told
	began       time.Time
	drawn       time.Time
}

// Progress shows a bar until Done, with what is happening (`uploading`) and the total
// number of bytes; 0 means unknown. One bar is shown at a time: a second one replaces the
// first.
func (u *UI) Progress(label string, total int64) *Progress {
	return u.begin(&Progress{ui: u, label: Clean(label), total: total, counts: true, sent: -1})
}

// ProgressText shows a text instead of a bar, until Done, for progress that is not counted in
// bytes. Show replaces the text.
func (u *UI) ProgressText(label, text string) *Progress {
	p := u.begin(&Progress{ui: u, label: Clean(label), text: Clean(text), sent: -1})
	p.Show(text)
	return p
}

// ProgressCount is ProgressText for a text that says how many of how many things are done. Count
// replaces it.
func (u *UI) ProgressCount(label string, done, total int, text string) *Progress {
	p := u.begin(&Progress{ui: u, label: Clean(label), text: Clean(text), sent: -1})
	p.Count(done, total, text)
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
	now := p.ui.now()
	p.send(now)
	if now.Sub(p.drawn) >= redrawEvery {
		p.draw(now)
	}
}

// Count is Show for a text that says how many of how many things are done.
func (p *Progress) Count(done, total int, text string) {
	p.ui.mu.Lock()
	p.done, p.total, p.counts = int64(done), int64(total), true
	p.send(p.ui.now())
	p.ui.mu.Unlock()
	p.Show(text)
}

// send sends how far it is to a program, from time to time. The caller holds the lock.
func (p *Progress) send(now time.Time) {
	if p.ui.events == nil || !p.counts || p.done == p.sent || p.done+p.total == 0 || p.sent >= 0 && now.Sub(p.drawn) < sendEvery {
		return
	}
	p.drawn, p.sent = now, p.done
	p.ui.sent(event.Progress{Name: p.label, Done: p.done, Total: p.total})
}

// Show replaces the text. Off a terminal, it prints the text as a line from time to time.
func (p *Progress) Show(text string) {
	p.ui.mu.Lock()
	defer p.ui.mu.Unlock()
	p.text = Clean(text)
	now := p.ui.now()
	switch since := now.Sub(p.drawn); {
	case p.ui.events != nil && p.counts: // which were sent
	case p.ui.style.Redraw && since >= redrawEvery:
		p.draw(now)
	case !p.ui.style.Redraw && since >= printEvery && p.text != p.printed:
		p.drawn, p.printed = now, p.text
		p.ui.print(p.line(now))
	}
}

// Done erases the bar. Defer it: a bar must disappear however the work ends. Phase
// reports what was achieved.
func (p *Progress) Done() {
	p.ui.mu.Lock()
	defer p.ui.mu.Unlock()
	if p.ui.bar != p {
		return
	}
	p.drawn = time.Time{}
	p.send(p.ui.now())
	p.ui.erase()
	p.ui.bar = nil
}

// EndProgress erases the bar that is shown, if any, since what follows has no end that can be foreseen.
func (u *UI) EndProgress() {
	u.mu.Lock()
	bar := u.bar
	u.mu.Unlock()
	if bar != nil {
		bar.Done()
	}
}

// erase leaves the cursor on an empty line. The caller holds the lock.
func (u *UI) erase() {
	if u.bar != nil && u.style.Redraw {
		_, _ = io.WriteString(u.w, eraseLine)
	}
}

// draw redraws the bar. The caller holds the lock.
func (p *Progress) draw(now time.Time) {
	if p.ui.bar != p || !p.ui.style.Redraw {
		return
	}
	p.drawn = now
	// The last column stays free: some terminals go to the next line when it is written
	// to.
	line := []rune(p.line(now))
	line = line[:min(len(line), p.ui.style.Columns-1)]
	_, _ = io.WriteString(p.ui.w, eraseLine+string(line))
}

func (p *Progress) line(now time.Time) string {
	if p.text != "" {
		return fmt.Sprintf("%-10s  %s", p.label, p.text)
	}
	moved := human.Bytes(p.done)
	if p.total > 0 {
		share := min(float64(p.done)/float64(p.total), 1)
		bar := strings.Repeat("=", int(share*barCells))
		moved = fmt.Sprintf("[%-*s] %3d%%  %s of %s", barCells, bar, int(share*100), moved, human.Bytes(p.total))
	}
	line := fmt.Sprintf("%-10s  %s", p.label, moved)
	if elapsed := now.Sub(p.began); elapsed >= time.Second {
		line += fmt.Sprintf("  %s/s", human.Bytes(int64(float64(p.done)/elapsed.Seconds())))
	}
	return line
}
