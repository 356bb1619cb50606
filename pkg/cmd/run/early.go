package run

import (
	"bytes"
	"errors"
	"io"
)

// earlyValue is a value that is shown before the process of its call has ended, which takes long if it has imported large packages.
type earlyValue struct {
	out io.Writer
	// shown is what was written to out, or was to be written if err is set, and unchecked what is left of it to be compared.
	shown, unchecked []byte
	err              error
}

// show writes the value of a call, given as JSON.
func (v *earlyValue) show(value string) {
	if v.shown != nil {
		return // another connection brings it again
	}
	v.shown = append([]byte(value), '\n')
	v.unchecked = v.shown
	_, v.err = v.out.Write(v.shown)
}

var errDiffers = errors.New("the stored value is not the one that was shown")

// writer returns where to write the value that was stored: to out, or, if it was shown before, to what compares both.
func (v *earlyValue) writer(out io.Writer) io.Writer {
	if v == nil || v.shown == nil {
		return out
	}
	return v
}

// Write implements io.Writer. It compares the value that was stored with the one that was shown.
func (v *earlyValue) Write(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	rest, same := bytes.CutPrefix(v.unchecked, p)
	if !same {
		return 0, errDiffers
	}
	v.unchecked = rest
	return len(p), nil
}
