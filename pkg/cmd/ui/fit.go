package ui

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Column is one of a table that fits into the width of a terminal.
type Column struct {
	// Header is the name, in any case.
	Header string
	// Varies leaves the column out if its cells are all equal and the table is too wide.
	Varies bool
	// Spare leaves the column out, whatever it has, if the table is still too wide without the equal columns.
	Spare bool
	// Text is long: its cells are cut if the table is too wide.
	Text bool
	// Least is the least width of the column, for rows that come later; a short form has none.
	Least int
	// Short returns another form of a cell, for a table that is too wide; nil if there is none.
	Short func(cell string) string
}

// Columns returns columns with these headers, which only the width of a line cuts.
func Columns(headers ...string) []Column {
	columns := make([]Column, len(headers))
	for i, h := range headers {
		columns[i].Header = h
	}
	return columns
}

const (
	// gap is between two columns, as in kubectl's tables.
	gap = "   "
	// fewest is how many characters of a text stay.
	fewest   = 12
	ellipsis = "…"
)

// layout is how rows are written within a width.
type layout struct {
	columns []Column
	width   int    // of a line
	widths  []int  // of the columns, in characters
	out     []bool // columns that are left out
	short   []bool // columns whose cells are in their short form
	common  string // what the columns have that are left out
}

// fit lays out rows below headers, if there are any, so that no line is longer than width. If
// they don't fit as they are, it first uses the short forms of cells, then leaves out columns that are equal in all
// rows, then spare ones, then cuts texts, and at last the ends of lines.
func fit(columns []Column, headers []string, rows [][]string, width int) *layout {
	l := &layout{columns: columns, width: width, out: make([]bool, len(columns)), short: make([]bool, len(columns))}
	all := append([][]string{headers}, rows...)
	l.measure(all)
	for i, c := range columns {
		if l.total() > width && c.Short != nil && isDistinct(rows, i, c.Short) {
			l.short[i] = true
			l.measure(all)
		}
	}
	l.leaveOut(rows)
	for i := len(columns) - 1; i >= 0 && l.total() > width; i-- {
		l.out[i] = l.out[i] || columns[i].Spare
	}
	for l.total() > width {
		widest := -1
		for i, c := range columns {
			if c.Text && !l.out[i] && l.widths[i] > fewest && (widest < 0 || l.widths[i] >= l.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break // line cuts the rest
		}
		l.widths[widest]--
	}
	return l
}

// isDistinct reports whether the short forms of cells differ where the cells do.
func isDistinct(rows [][]string, column int, short func(string) string) bool {
	long := map[string]string{}
	for _, row := range rows {
		s := short(row[column])
		if other, found := long[s]; found && other != row[column] {
			return false
		}
		long[s] = row[column]
	}
	return true
}

// leaveOut leaves out columns whose cells are equal in all of several rows, from the right, until the rest fits.
func (l *layout) leaveOut(rows [][]string) {
	var said []string
	for i := len(l.columns) - 1; i >= 0 && len(rows) > 1 && l.total() > l.width; i-- {
		first := rows[0][i]
		if !l.columns[i].Varies || slices.ContainsFunc(rows, func(row []string) bool { return row[i] != first }) {
			continue
		}
		l.out[i] = true
		if first != none && first != "-" {
			said = append(said, strings.ToUpper(l.columns[i].Header)+" "+l.cell(i, first))
		}
	}
	slices.Reverse(said)
	if len(said) > 0 {
		l.common = cut("all: "+strings.Join(said, ", "), l.width)
	}
}

// measure sets the widths of the columns to those of their widest cells.
func (l *layout) measure(rows [][]string) {
	l.widths = make([]int, len(l.columns))
	for i, c := range l.columns {
		if !l.short[i] {
			l.widths[i] = c.Least
		}
	}
	l.widen(rows)
}

// widen makes the columns wide enough for the cells of more rows.
func (l *layout) widen(rows [][]string) {
	for _, row := range rows {
		for i, cell := range row[:min(len(row), len(l.columns))] {
			l.widths[i] = max(l.widths[i], utf8.RuneCountInString(l.cell(i, cell)))
		}
	}
}

func (l *layout) total() int {
	n := -len(gap)
	for i, w := range l.widths {
		if !l.out[i] {
			n += len(gap) + w
		}
	}
	return n
}

func (l *layout) cell(i int, text string) string {
	if l.short[i] {
		return l.columns[i].Short(text)
	}
	return text
}

// line returns a row as a line. A row that was not known to fit may be wider than the columns, or have more cells.
func (l *layout) line(row []string) string {
	var b strings.Builder
	b.Grow(len(gap) + l.total())
	for i, cell := range row {
		if i >= len(l.columns) {
			b.WriteString(cell + gap)
			continue
		}
		if l.out[i] {
			continue
		}
		cell = l.cell(i, cell)
		if l.columns[i].Text {
			cell = cut(cell, l.widths[i])
		}
		b.WriteString(cell)
		for range max(0, l.widths[i]-utf8.RuneCountInString(cell)) + len(gap) {
			b.WriteByte(' ')
		}
	}
	return cut(strings.TrimRight(b.String(), " "), l.width)
}

// cut cuts a text to a number of characters at most, of which the last then is a mark.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	kept := string([]rune(text)[:max(width-1, 0)])
	whole := strings.TrimRight(kept, " ")
	switch {
	case strings.HasSuffix(whole, ellipsis): // a cell that was cut
		return whole
	case whole != kept: // a space shows that the last word is not cut
		return whole + " " + ellipsis
	}
	return kept + ellipsis
}
