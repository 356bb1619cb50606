package top

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Screen is a screen of text.
type Screen struct {
	Lines []Line
	// Rows are those that can be seen.
	Rows []Row
}

// Line is a line of a screen.
type Line struct {
	Parts []Part
	// Selected is the row that the user is on.
	Selected bool
}

// Part is a part of a line that looks the same.
type Part struct {
	Text string
	// State gives the text its colour, "" for none.
	State     api.State
	Bold, Dim bool
}

// Text returns the text of a line.
func (l Line) Text() string {
	var b strings.Builder
	for _, p := range l.Parts {
		b.WriteString(p.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// The lines besides rows: the title, the notice and the headers above them, the keys below.
const above, below = 3, 1

// Screen lays out the screen. A screen without room for more has only rows.
func (m *Model) Screen(width, height int, now time.Time) Screen {
	rows := m.Rows(now)
	room := height - above - below
	bare := room < 1
	if bare {
		room = height
	}
	if room < 1 || width < 1 {
		return Screen{}
	}
	columns, dropped := m.fit(rows, width, now)
	first := m.window(rows, room)
	s := Screen{Rows: rows[first:min(first+room, len(rows))]}
	if !bare {
		s.Lines = append(s.Lines, Line{Parts: []Part{{Text: cut(m.title(rows, width, now), width), Bold: true}}},
			m.second(rows, columns, dropped, width), headers(columns, width))
	}
	for i, r := range s.Rows {
		s.Lines = append(s.Lines, m.row(columns, r, first+i == m.index, width))
	}
	if len(rows) == 0 && !bare {
		s.Lines = append(s.Lines, Line{Parts: []Part{{Text: cut(m.Empty, width), Dim: true}}})
	}
	if bare {
		return s
	}
	for len(s.Lines) < height-below {
		s.Lines = append(s.Lines, Line{})
	}
	return Screen{append(s.Lines, m.bottom(width)), s.Rows}
}

// second returns the line below the title: the notice or, if there is none, what the columns do not have of the selected row.
func (m *Model) second(rows []Row, columns, dropped []Column, width int) Line {
	if m.Notice != "" || len(rows) == 0 {
		return Line{Parts: []Part{{Text: cut(OneLine(m.Notice), width), State: api.Pending}}}
	}
	r := rows[m.index]
	parts := []string{r.ID}
	for _, c := range dropped {
		if text := c.Cell(r); text != "" {
			parts = append(parts, strings.ToLower(c.Header)+" "+text)
		}
	}
	if len(parts) == 1 && slices.ContainsFunc(columns, func(c Column) bool { return c.Header == jobHeader && c.width >= len(r.ID) }) {
		return Line{}
	}
	return Line{Parts: []Part{{Text: cut(OneLine(strings.Join(parts, ", ")), width), Dim: true}}}
}

// title says whose jobs these are, how many are in which state, and what they have cost so far.
func (m *Model) title(rows []Row, width int, now time.Time) string {
	counts, meter := map[string]int{}, m.Meter
	meter.Now = now
	usd, priced := 0.0, false
	for _, r := range rows {
		if r.Host != WholeJob {
			continue
		}
		counts[r.Entry.Word()]++
		if c := meter.OfSummary(r.Entry); c != nil && c.USD != nil {
			usd, priced = usd+*c.USD, true
		}
	}
	var parts []string
	for _, word := range []string{string(api.Running), string(api.Pending), string(api.Succeeded), string(api.Failed), api.CancelledWord, string(api.NotFound)} {
		if n := counts[word]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ToLower(strings.ReplaceAll(word, "_", " "))))
		}
	}
	if priced {
		parts = append(parts, "about "+price.Dollars(usd)+" so far")
	}
	left, clock := m.Title, now.Local().Format(time.TimeOnly)
	if len(parts) > 0 {
		left += ": " + strings.Join(parts, ", ")
	}
	if space := width - uniseg.StringWidth(left) - len(clock); space >= gap {
		return left + strings.Repeat(" ", space) + clock
	}
	return left
}

func headers(columns []Column, width int) Line {
	var cells []string
	for _, c := range columns {
		cells = append(cells, c.pad(c.Header))
	}
	return Line{Parts: []Part{{Text: cut(strings.Join(cells, strings.Repeat(" ", gap)), width), Dim: true}}}
}

func (m *Model) row(columns []Column, r Row, selected bool, width int) Line {
	line, left := Line{Selected: selected}, width
	for i, c := range columns {
		text := c.text(r)
		if i < len(columns)-1 {
			text += strings.Repeat(" ", gap)
		}
		p := Part{Text: cut(text, left)}
		left -= uniseg.StringWidth(p.Text)
		switch {
		case c.Header == "STATE":
			p.State = api.State(wordOf(r))
		case r.Host != WholeJob, r.Entry.State == api.NotFound:
			p.Dim = true
		}
		line.Parts = append(line.Parts, p)
	}
	return line
}

func (c Column) text(r Row) string {
	text := OneLine(c.Cell(r))
	switch {
	case c.Header == jobHeader:
		text = shorten(text, c.width)
	case text == "" && c.measured && r.Entry.State == api.Running && (c.Header != dutyHeader || HasAccelerators(r.Entry)):
		text = none
	}
	return c.pad(text)
}

func (c Column) pad(text string) string {
	text = cut(text, c.width)
	space := strings.Repeat(" ", max(c.width-uniseg.StringWidth(text), 0))
	if c.right {
		return space + text
	}
	return text + space
}

// keys are those of the screen, the most needed first.
func keys() []string {
	return []string{"q quit", "l log", "s stacks", "x shell", "c cancel", "space hosts", "up/down move"}
}

// bottom returns the line of keys, as many as there is room for, or the question.
func (m *Model) bottom(width int) Line {
	if m.Question != "" {
		return Line{Parts: []Part{{Text: cut(OneLine(m.Question), width), Bold: true}}}
	}
	text := ""
	for _, k := range keys() {
		if more := strings.TrimLeft(text+"   "+k, " "); len(more) <= width {
			text = more
		}
	}
	return Line{Parts: []Part{{Text: text, Dim: true}}}
}

// escape matches the sequences with which programs colour their output.
const escape = "\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)"

// OneLine makes a text from elsewhere safe for a line of a terminal, without its colours.
func OneLine(text string) string {
	text = ui.Clean(lazyregexp.Of(escape).ReplaceAllString(text, ""))
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
}

// cut cuts a text to a number of cells of a terminal at most, of which the last then is a mark.
func cut(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	var b strings.Builder
	rest, state := text, -1
	for used := 0; rest != ""; {
		var cluster string
		var cells int
		cluster, rest, cells, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += cells; used > width-1 {
			break
		}
		b.WriteString(cluster)
	}
	if width < 1 {
		return ""
	}
	return b.String() + "…"
}
