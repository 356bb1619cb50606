package ui

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Lines is a writer for the log of something else, such as a build. It shows whole lines, above the
// bar if there is one.
type Lines struct {
	ui    *UI
	w     io.Writer
	label string
	part  []byte // a line without its end
}

// Lines returns a writer that shows lines on w, with a label before each.
func (u *UI) Lines(w io.Writer, label string) *Lines {
	return &Lines{ui: u, w: u.Above(w), label: u.style.paint(dim, fmt.Sprintf("%-10s", Clean(label)))}
}

// longest is how many bytes of a line are kept while its end is missing.
const longest = 1 << 16

func (l *Lines) Write(p []byte) (int, error) {
	var out bytes.Buffer
	for part := range bytes.Lines(p) {
		l.part = append(l.part, part...)
		if part[len(part)-1] == '\n' || len(l.part) > longest {
			l.end(&out)
		}
	}
	if out.Len() == 0 {
		return len(p), nil
	}
	if _, err := l.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end writes the line that is complete now. Of one that was drawn over itself, such as a progress
// bar, it shows the last state.
func (l *Lines) end(to *bytes.Buffer) {
	text := strings.TrimRight(string(l.part), "\r\n")
	l.part = l.part[:0]
	text = text[strings.LastIndexByte(text, '\r')+1:]
	to.WriteString(strings.TrimRight(l.label+"  "+Clean(text), " \t") + "\n")
}

// Flush shows what is left of a line without an end.
func (l *Lines) Flush() {
	if len(l.part) == 0 {
		return
	}
	var out bytes.Buffer
	l.end(&out)
	_, _ = l.w.Write(out.Bytes())
}
