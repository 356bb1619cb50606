package ui

import (
	"bytes"
	"testing"
)

func TestLines(t *testing.T) {
	for name, tt := range map[string]struct {
		parts []string
		want  string
	}{
		"whole lines":       {[]string{"Step 1\nStep 2\n"}, "build       Step 1\nbuild       Step 2\n"},
		"parts of lines":    {[]string{"St", "ep 1\nSt", "ep 2\n"}, "build       Step 1\nbuild       Step 2\n"},
		"no end":            {[]string{"Step 1\nStep"}, "build       Step 1\nbuild       Step\n"},
		"a progress bar":    {[]string{"10%\r50", "%\r100%\r\n"}, "build       100%\n"},
		"escape sequences":  {[]string{"\x1b[31mred\x1b[2J\n"}, "build       \\x1b[31mred\\x1b[2J\n"},
		"within a letter":   {[]string{"\xc3", "\xa9\n"}, "build       é\n"},
		"nothing, an empty": {[]string{"", "\n"}, "build\n"},
	} {
		for _, redraw := range []bool{false, true} {
			var out bytes.Buffer
			u := NewStyled(&out, newClock().now, Style{Redraw: redraw, Columns: 80})
			bar := u.ProgressText("packages", "waiting")
			out.Reset()
			l := u.Lines(&out, "build")
			for _, p := range tt.parts {
				if n, err := l.Write([]byte(p)); n != len(p) || err != nil {
					t.Errorf("%s: wrote %d, %v", name, n, err)
				}
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			bar.Done()
			if got := screen(out.String()); got != tt.want {
				t.Errorf("%s, on a terminal %v: %q, want %q", name, redraw, got, tt.want)
			}
		}
	}
}
