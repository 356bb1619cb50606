package logs

import (
	"bytes"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// LastLine returns the last line of what a node sends of a log, as Open describes it, without its time and its marks.
func LastLine(sent io.Reader) (string, error) {
	data, err := io.ReadAll(sent)
	if err != nil {
		return "", err
	}
	lines := bytes.Split(bytes.TrimRight(data, "\n"), []byte{'\n'})
	_, text, _ := splitStamp(lines[len(lines)-1])
	if new(records.Reports).Take(text) {
		return "", nil
	}
	return Shown(bytes.TrimRight(unmarked(text), string(pieceEnd))), nil
}

// Shown returns what a terminal shows of a line that is redrawn, as progress bars are: its last state.
func Shown(line []byte) string {
	line = bytes.TrimRight(line, "\r\n")
	return string(line[bytes.LastIndexByte(line, '\r')+1:])
}
