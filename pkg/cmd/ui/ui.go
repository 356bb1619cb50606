// Package ui is what people see on standard error while a command works: a line for each
// phase, a bar for an upload, notes and warnings. On a terminal it uses colour and
// redraws; in a pipe or a log it only writes plain lines. Tables, sizes and ages have one
// form here for all commands.
package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// UI writes lines to people. It is safe for concurrent use. It ignores errors of its
// writer: a command doesn't fail because nobody watches.
type UI struct {
	now    func() time.Time
	style  Style
	events *event.Writer // instead of lines for people; nil for those

	mu    sync.Mutex
	w     io.Writer
	phase time.Time // when the current phase began
	bar   *Progress // the one being shown, if any
}

// New returns a UI that writes to w, usually standard error, and gets the time from now.
// The first phase begins at once. If w takes events, it gets those.
func New(w io.Writer, now func() time.Time) *UI { return NewStyled(w, now, Detect(w)) }

// NewStyled is New with a style that the caller chooses.
func NewStyled(w io.Writer, now func() time.Time, style Style) *UI {
	if style.Columns < 1 {
		style.Columns = defaultColumns
	}
	return &UI{w: w, now: now, style: style, events: event.Of(w), phase: now()}
}

// Phase reports that a step is done, its result, and how long it took since the previous
// step: `packaged    12 files, 34 KiB, 0 B new (0.2s)`.
func (u *UI) Phase(done, detail string) {
	u.PhaseUntil(u.now(), done, detail)
}

// PhaseUntil is Phase for a step that was done at the time end, when the next one began.
func (u *UI) PhaseUntil(end time.Time, done, detail string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.report(u.phase, end, done, detail)
}

// PhaseFrom is Phase for a step that began at the time begin, while others were under way.
func (u *UI) PhaseFrom(begin time.Time, done, detail string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.report(begin, u.now(), done, detail)
}

// report reports a step. The caller holds the lock.
func (u *UI) report(begin, end time.Time, done, detail string) {
	took := end.Sub(begin)
	u.phase = end
	if u.sent(event.Phase{Name: done, Detail: detail, Seconds: max(took, 0).Round(time.Millisecond).Seconds()}) {
		return
	}
	u.print(fmt.Sprintf("%s  %s %s", u.style.paint(green, fmt.Sprintf("%-10s", Clean(done))), Clean(detail), u.style.paint(dim, "("+Took(took)+")")))
}

// Submitted is Phase for a job that was created.
func (u *UI) Submitted(h api.Handle) {
	if !u.sent(event.Submitted{Job: h}) {
		u.Phase("submitted", h.JobID)
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.phase = u.now()
}

// Running is Phase for a job that begins an attempt.
func (u *UI) Running(id string, attempt int) {
	detail := fmt.Sprintf("attempt %d", attempt)
	if !u.sent(event.State{Job: id, State: api.Running, Message: detail}) {
		u.Phase("running", detail)
	}
}

// sent sends an event and reports true if a program reads.
func (u *UI) sent(e event.Event) bool {
	if u.events == nil {
		return false
	}
	_ = u.events.Send(e)
	return true
}

// tell sends an event, or prints a line if people read.
func (u *UI) tell(e event.Event, line string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.sent(e) {
		u.print(line)
	}
}

// Note reports something worth knowing.
func (u *UI) Note(text string) { u.tell(event.Note{Message: text}, Clean(text)) }

// Warn reports something that may turn out to be a mistake.
func (u *UI) Warn(text string) {
	u.tell(event.Warning{Message: text}, u.style.paint(yellow, "warning:")+" "+Clean(text))
}

// State reports the state of a job, in lower case like Phase and in the state's colour,
// with a detail: `pending     waiting: no node has room`.
func (u *UI) State(id string, s api.Status, detail string) {
	word := u.style.paint(colorOf(s.State), fmt.Sprintf("%-10s", strings.ToLower(Clean(string(s.State)))))
	u.tell(event.State{Job: id, State: s.State, Reason: s.Reason, Message: detail}, word+"  "+Clean(detail))
}

// Above returns w for data that may go to the same terminal: the bar makes room for it.
func (u *UI) Above(w io.Writer) io.Writer { return above{u, w} }

type above struct {
	u *UI
	w io.Writer
}

func (a above) Write(b []byte) (int, error) {
	a.u.mu.Lock()
	defer a.u.mu.Unlock()
	a.u.erase()
	n, err := a.w.Write(b)
	if a.u.bar != nil {
		a.u.bar.draw(a.u.now())
	}
	return n, err
}

// print writes a line, above the bar if there is one. The caller holds the lock.
func (u *UI) print(line string) {
	u.erase()
	_, _ = io.WriteString(u.w, strings.TrimRight(line, "\n ")+"\n")
	if u.bar != nil {
		u.bar.draw(u.now())
	}
}

// Lines returns a writer for the log of something else, such as a build. It shows whole lines on w, each after a label, above the
// bar if there is one. Closing it shows what is left of a line without an end.
func (u *UI) Lines(w io.Writer, label string) *display.Lines {
	return display.NewLines(labelled{u.Above(w), u.style.paint(dim, fmt.Sprintf("%-10s", Clean(label)))})
}

// labelled writes whole lines, each after a label.
type labelled struct {
	w     io.Writer
	label string
}

func (l labelled) Write(p []byte) (int, error) {
	var out strings.Builder
	for line := range strings.Lines(string(p)) {
		out.WriteString(strings.TrimRight(l.label+"  "+Clean(strings.TrimRight(line, "\r\n")), " \t") + "\n")
	}
	if _, err := io.WriteString(l.w, out.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
