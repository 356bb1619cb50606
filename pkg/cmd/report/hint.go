package report

import (
	"io"
	"regexp"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Hint returns a text with commands about a job. On a terminal the commands have the short ID, so that they fit on a
// line.
func Hint(w io.Writer, id, text string) string {
	if ui.Detect(w).Width() == 0 {
		return text
	}
	return shortened(id, text)
}

func shortened(id, text string) string {
	command := regexp.MustCompile(`(kubectl kinetic jobs [a-z]+(?: -f)?|--map-resume|--resume-from) ` + regexp.QuoteMeta(id) + `\b`)
	return command.ReplaceAllString(text, "$1 "+store.ShortID(id))
}
