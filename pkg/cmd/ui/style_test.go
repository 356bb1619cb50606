package ui

import (
	"bytes"
	"os"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestDetectIsPlainWithoutATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := Detect(file); got != (Style{}) {
		t.Errorf("a file: %+v", got)
	}
	if got := Detect(&bytes.Buffer{}); got != (Style{}) {
		t.Errorf("a buffer: %+v", got)
	}
}

func TestTerminalStyle(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		want Style
	}{
		"a terminal":              {map[string]string{"TERM": "xterm-256color"}, Style{Redraw: true, Color: true, Columns: 120}},
		"without TERM":            {nil, Style{Redraw: true, Color: true, Columns: 120}},
		"NO_COLOR":                {map[string]string{"NO_COLOR": "1"}, Style{Redraw: true, Columns: 120}},
		"NO_COLOR=0 is a value":   {map[string]string{"NO_COLOR": "0"}, Style{Redraw: true, Columns: 120}},
		"an empty NO_COLOR":       {map[string]string{"NO_COLOR": ""}, Style{Redraw: true, Color: true, Columns: 120}},
		"a terminal that is dumb": {map[string]string{"TERM": "dumb"}, Style{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := terminalStyle(120, func(key string) string { return tt.env[key] }); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestInColor(t *testing.T) {
	if got := (Style{Color: true}).InColor(api.Failed, "no"); got != "\x1b[31mno\x1b[0m" {
		t.Errorf("with colours: %q", got)
	}
	if got := (Style{}).InColor(api.Failed, "no"); got != "no" {
		t.Errorf("without: %q", got)
	}
}

func TestIsUTF8(t *testing.T) {
	for name, tt := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"by LANG":      {map[string]string{"LANG": "en_US.UTF-8"}, true},
		"by LC_ALL":    {map[string]string{"LC_ALL": "C.utf8", "LANG": "C"}, true},
		"LC_ALL first": {map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, false},
		"nothing set":  {nil, false},
	} {
		if got := IsUTF8(func(key string) string { return tt.env[key] }); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
