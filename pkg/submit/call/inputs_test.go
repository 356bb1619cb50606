package call

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestReadInputs(t *testing.T) {
	longest := `"` + strings.Repeat("x", maxInput-4) + `"`
	tests := map[string]struct {
		text, lines string
		count       int
		forms       []Form
		err         string
	}{
		"objects":                     {text: "{\"a\": 1, \"b\":2}\n{}\n", lines: "{\"a\":1,\"b\":2}\n{}\n", count: 2, forms: []Form{{1, []string{"a", "b"}, 0}, {2, nil, 0}}},
		"arrays":                      {text: "[1, [2]]\n[3]\n", lines: "[1,[2]]\n[3]\n", count: 2, forms: []Form{{1, nil, 2}, {2, nil, 1}}},
		"the same names":              {text: "{\"b\":1,\"a\":2}\n{\"a\":1,\"b\":2}\n7", lines: "{\"b\":1,\"a\":2}\n{\"a\":1,\"b\":2}\n7\n", count: 3, forms: []Form{{1, []string{"a", "b"}, 0}, {3, nil, 1}}},
		"others":                      {text: "\"x y\"\nnull\n", lines: "\"x y\"\nnull\n", count: 2, forms: []Form{{1, nil, 1}}},
		"no newline at the end":       {text: "1\n2", lines: "1\n2\n", count: 2, forms: []Form{{1, nil, 1}}},
		"from Windows":                {text: "\ufeff1\r\n2\r\n", lines: "1\n2\n", count: 2, forms: []Form{{1, nil, 1}}},
		"numbers as they are":         {text: "1.50\n123456789012345678901\n", lines: "1.50\n123456789012345678901\n", count: 2, forms: []Form{{1, nil, 1}}},
		"none":                        {err: "no inputs"},
		"an empty line":               {text: "1\n\n2\n", err: "line 2: empty line"},
		"an empty line at the end":    {text: "1\n \n", err: "line 2: empty line"},
		"no JSON":                     {text: "1\n{\"a\":\n", err: "line 2: not JSON: the line ends before its value does: a quote, bracket or brace may not be closed"},
		"a string that is not closed": {text: "\"x\n", err: "line 1: not JSON: the line ends before its value"},
		"Python's quotes":             {text: "{'ä': 1}\n", err: `line 1: not JSON: unexpected "'" at character 2: expected one JSON value per line`},
		"a wrong character":           {text: "{\"ä\": x}\n", err: `line 1: not JSON: unexpected "x" at character 7: expected`},
		"a tab in a string":           {text: "\"a\tb\"\n", err: `line 1: not JSON: unexpected "\t" at character 3: expected`},
		"a character of many bytes":   {text: "[“a”]\n", err: `line 1: not JSON: unexpected "“" at character 2: expected`},
		"two values":                  {text: "1 2\n", err: `line 1: not JSON: unexpected "2" at character 3: expected one JSON value per line`},
		"what only Python calls one":  {text: "1\n2\nNaN\n", err: `line 3: not JSON: unexpected "N" at character 1: expected`},
		"a name twice":                {text: "1\n{\"a\":1,\"b\":{\"a\":1},\"\\u0061\":2}\n", err: "line 2: argument a given twice"},
		"the same name deeper":        {text: "{\"a\":{\"a\":1},\"b\":[{\"a\":1}]}\n", lines: "{\"a\":{\"a\":1},\"b\":[{\"a\":1}]}\n", count: 1, forms: []Form{{1, []string{"a", "b"}, 0}}},
		"a line as long as it may":    {text: longest + "\n" + longest, lines: longest + "\n" + longest + "\n", count: 2, forms: []Form{{1, nil, 1}}},
		"a line that is too long":     {text: "1\n" + strings.Repeat(" ", maxInput), err: "line 2: more than 16 MiB"},
		"too much in all":             {text: strings.Repeat(longest+"\n", 17), err: "line 17: the inputs take more than 256 MiB"},
		"no UTF-8":                    {text: "\"\xff\"\n", err: "line 1: not UTF-8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var lines bytes.Buffer
			in, err := ReadInputs(strings.NewReader(tt.text), &lines)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			sum := sha256.Sum256([]byte(tt.lines))
			want := Inputs{Count: tt.count, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(tt.lines)), Forms: tt.forms, Other: 1}
			if diff := cmp.Diff(want, in, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Inputs{}, "Values")); err != nil || diff != "" {
				t.Errorf("%v; -want +got:\n%s", err, diff)
			}
			if lines.String() != tt.lines {
				t.Errorf("wrote %.100q, want %.100q", lines.String(), tt.lines)
			}
		})
	}
}

func TestReadInputsFindsKindsOfValues(t *testing.T) {
	text := `{"a": 1, "b": "x"}` + "\n" + `{"a": 2, "b": null}` + "\n" + `[3.5, 1]` + "\n" + `{"a": 1e3}` + "\n" + `"` + strings.Repeat("ü", 40) + `"` + "\n"
	in, err := ReadInputs(strings.NewReader(text), io.Discard)
	want := []Value{
		{Line: 1, Name: "a", JSON: "1"}, {Line: 1, Name: "b", JSON: `"x"`}, {Line: 2, Name: "b", JSON: "null"},
		{Line: 3, JSON: "3.5"}, {Line: 3, Position: 1, JSON: "1"}, {Line: 4, Name: "a", JSON: "1e3"}, {Line: 5, JSON: `"` + strings.Repeat("ü", 29) + "…"},
	}
	if diff := cmp.Diff(want, in.Values); diff != "" || err != nil {
		t.Errorf("%v; -want +got:\n%s", err, diff)
	}
}

// TestOneList: a file that json.dump has written has all inputs in one line.
func TestOneList(t *testing.T) {
	for lines, want := range map[string]bool{
		`[{"lr": 1}, {"lr": 2}]`: true, `[{"lr": 1}]`: false, `[{"lr": 1}, 2]`: false, "[1, 2]": false, `{"lr": 1}`: false,
		"[{}, {}]\n[{}, {}]": false,
	} {
		in, err := ReadInputs(strings.NewReader(lines), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.OneList(); (got != "") != want {
			t.Errorf("%s: %q, want one: %v", lines, got, want)
		}
	}
}
