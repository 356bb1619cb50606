package run

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func TestEarlyValue(t *testing.T) {
	closed := errors.New("closed")
	tests := map[string]struct {
		shown, stored, want string
		err, wantErr        error
	}{
		"not shown":                    {stored: "[1]\n", want: "[1]\n"},
		"shown":                        {shown: "[1]", stored: "[1]\n", want: "[1]\n"},
		"another value":                {shown: "[1]", stored: "[2]\n", want: "[1]\n", wantErr: errDiffers},
		"a longer value":               {shown: "[1]", stored: "[1]\n2\n", want: "[1]\n", wantErr: errDiffers},
		"nobody reads standard output": {shown: "[1]", stored: "[1]\n", err: closed, wantErr: closed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			v := &earlyValue{out: failing{&out, tt.err}}
			if tt.shown != "" {
				v.show(tt.shown)
				v.show(tt.shown) // on another connection
			}
			w := v.writer(&out)
			var err error
			for _, b := range []byte(tt.stored) {
				if _, err = w.Write([]byte{b}); err != nil {
					break
				}
			}
			if !errors.Is(err, tt.wantErr) || out.String() != tt.want {
				t.Errorf("got %v, %q; want %v, %q", err, out.String(), tt.wantErr, tt.want)
			}
		})
	}
	if got := (*earlyValue)(nil).writer(io.Discard); got != io.Discard {
		t.Errorf("a call without an early value is written to %v", got)
	}
}

// failing is a writer that fails if err is set.
type failing struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (f failing) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Writer.Write(p)
}
