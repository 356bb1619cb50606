package ui

import "testing"

func TestWrap(t *testing.T) {
	const text = "- cluster research\n= bucket acme-jobs stays: it has the results of all jobs, see --delete-data\n  = " +
		"averylongwordthatdoesnotfit\n"
	for name, tt := range map[string]struct {
		style Style
		want  string
	}{
		"a pipe": {Style{}, text},
		"a terminal": {Style{Redraw: true, Columns: 31}, "- cluster research\n= bucket acme-jobs stays: it\n  has the results of all jobs,\n  see --delete-data\n  = " +
			"averylongwordthatdoesnotfit\n"},
		"a wide one": {Style{Redraw: true, Columns: 200}, text},
	} {
		if got := Wrap(tt.style, text); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, tt.want)
		}
	}
}
