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

func TestWrapBelow(t *testing.T) {
	const text = "image        bundled\npackages     resolved by uv, with keras added; on python:3.11\n"
	want := "image        bundled\npackages     resolved by uv, with\n             keras added; on\n             python:3.11\n"
	if got := WrapBelow(Style{Redraw: true, Columns: 35}, 13, text); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := WrapBelow(Style{}, 13, text); got != text {
		t.Errorf("in a pipe: got\n%s", got)
	}
	style := Style{Redraw: true, Color: true, Columns: 36}
	colored := style.Bad("✗") + " kubeconfig has no current context\n"
	if got := WrapBelow(style, 2, colored); got != colored {
		t.Errorf("colours took room: got\n%s", got)
	}
}
