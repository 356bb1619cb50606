package call

import (
	"slices"
	"strings"
	"testing"
)

func TestReadInputs(t *testing.T) {
	tests := map[string]struct {
		text, lines string
		count       int
		names       string
		positional  int
		err         string
	}{
		"objects":                    {text: "{\"a\": 1, \"b\":2}\n{}\n", lines: "{\"a\":1,\"b\":2}\n{}\n", count: 2, names: "a b"},
		"arrays":                     {text: "[1, [2]]\n[3]\n", lines: "[1,[2]]\n[3]\n", count: 2, positional: 2},
		"others":                     {text: "\"x y\"\nnull\n", lines: "\"x y\"\nnull\n", count: 2, positional: 1},
		"no newline at the end":      {text: "1\n2", lines: "1\n2\n", count: 2, positional: 1},
		"from Windows":               {text: "\ufeff1\r\n2\r\n", lines: "1\n2\n", count: 2, positional: 1},
		"numbers as they are":        {text: "1.50\n123456789012345678901\n", lines: "1.50\n123456789012345678901\n", count: 2, positional: 1},
		"none":                       {err: "there is no input in it"},
		"an empty line":              {text: "1\n\n2\n", err: "line 2: it is empty"},
		"an empty line at the end":   {text: "1\n \n", err: "line 2: it is empty"},
		"no JSON":                    {text: "1\n{\"a\":\n", err: "line 2: not JSON"},
		"two values":                 {text: "1 2\n", err: "line 1: not JSON"},
		"what only Python calls one": {text: "1\n2\nNaN\n", err: "line 3: not JSON"},
		"no UTF-8":                   {text: "\"\xff\"\n", err: "line 1: it is not UTF-8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in, err := ReadInputs(strings.NewReader(tt.text))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			slices.Sort(in.Names)
			if err != nil || string(in.Lines) != tt.lines || in.Count != tt.count || strings.Join(in.Names, " ") != tt.names || in.Positional != tt.positional {
				t.Errorf("got %q, %+v, %v", in.Lines, in, err)
			}
		})
	}
}
