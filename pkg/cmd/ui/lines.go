package ui

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

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
