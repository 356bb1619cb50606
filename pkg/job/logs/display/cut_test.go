package display

import (
	"bytes"
	"strings"
	"testing"
)

func TestCutter(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	tests := map[string]struct{ in, want string }{
		"lines":                           {"a\n\nb\n", "a\n\nb\n"},
		"a line of 64 KiB":                {long + "\nb\n", long + "\nb\n"},
		"a longer line":                   {long + "x\nb\n", long + cutMark + "\nb\n"},
		"behind another line":             {"a\n" + long + "x\nb", "a\n" + long + cutMark + "\nb"},
		"a much longer line":              {long + long + "yyy", long + cutMark},
		"a character at the cut":          {long[1:] + "€€\n", long[1:] + "€" + cutMark + "\n"},
		"a character that ends the line":  {long[1:] + "€\n", long[1:] + "€\n"},
		"no character at the cut":         {long + "\x80\x80\x80\x80\x80\n", long + "\x80\x80\x80" + cutMark + "\n"},
		"a carriage return starts again":  {long + "\r" + long + "\rdone\n", long + "\r" + long + "\rdone\n"},
		"a long state of a line":          {"a\r" + long + "zzz\rdone\n", "a\r" + long + cutMark + "\rdone\n"},
		"a longer line with a DOS ending": {long + "x\r\nb\n", long + cutMark + "\r\nb\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1 << 30, 4096, 7, 1} {
				var got bytes.Buffer
				writeIn(t, newCutter(&got), tt.in, size)
				if got.String() != tt.want {
					t.Errorf("in pieces of %d bytes: got %q, want %q", size, clip(got.String()), clip(tt.want))
				}
			}
		})
	}
}
