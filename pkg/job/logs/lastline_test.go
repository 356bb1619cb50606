package logs

import (
	"strings"
	"testing"
)

func TestLastLine(t *testing.T) {
	const stamp = "2026-04-17T12:00:00.123456789Z "
	for sent, want := range map[string]string{
		"":                                  "",
		stamp + "step 1\n":                  "step 1",
		stamp + "one\n" + stamp + "two\n":   "two",
		stamp + "10%\r 20%\r 30%\r\n":       " 30%",
		stamp + string(stderrMark) + "no\n": "no",
		stamp + "a piece" + string(pieceEnd) + "\n": "a piece",
		"without a time\n":                          "without a time",
		stamp + "cut":                               "cut",
	} {
		if got, err := LastLine(strings.NewReader(sent)); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", sent, got, err, want)
		}
	}
}
