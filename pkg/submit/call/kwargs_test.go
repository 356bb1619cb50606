package call

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParseKWArgs(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.json"), "{\n  \"lr\": 1e-4,\n  \"n\": 123456789012345678901234567890\n}\n")
	write(t, filepath.Join(dir, "bom.json"), "\ufeff[1]")
	tests := map[string]struct{ word, want string }{
		"an integer":                    {"a=3", `3`},
		"one beyond 64 bits":            {"a=123456789012345678901234567890", `123456789012345678901234567890`},
		"one beyond any float":          {"a=1e400", `1e400`},
		"minus nothing":                 {"a=-0", `-0`},
		"zeros at the end":              {"a=1.000", `1.000`},
		"true":                          {"a=true", `true`},
		"null":                          {"a=null", `null`},
		"a list":                        {"a=[1, 2.50, \"x\"]", `[1,2.50,"x"]`},
		"an object":                     {"a={\"b\": {\"c\": []}}", `{"b":{"c":[]}}`},
		"doubled keys are kept":         {`a={"b":1,"b":2}`, `{"b":1,"b":2}`},
		"a quoted string":               {`a="3"`, `"3"`},
		"a quoted @":                    {`a="@bob"`, `"@bob"`},
		"escapes are kept":              {`a="\u00e9\ud800"`, `"\u00e9\ud800"`},
		"blanks around":                 {"a= 3\n", `3`},
		"a string":                      {"a=adam", `"adam"`},
		"one with blanks":               {"a=two words", `"two words"`},
		"one with =":                    {"a=b=c", `"b=c"`},
		"one like HTML":                 {"a=<a&b>", `"<a&b>"`},
		"one with a quote":              {`a=say "hi"`, `"say \"hi\""`},
		"a path":                        {"a=gs://bucket/x", `"gs://bucket/x"`},
		"nothing":                       {"a=", `""`},
		"a blank":                       {"a= ", `" "`},
		"one that begins with 0":        {"a=007", `"007"`},
		"a version":                     {"a=1.2.3", `"1.2.3"`},
		"a day":                         {"a=2026-01-02", `"2026-01-02"`},
		"an underscore":                 {"a=_1", `"_1"`},
		"a dot":                         {"a=.", `"."`},
		"a dash":                        {"a=-", `"-"`},
		"a file":                        {"a=@config.json", `{"lr":1e-4,"n":123456789012345678901234567890}`},
		"a file by its full path":       {"a=@" + filepath.Join(dir, "config.json"), `{"lr":1e-4,"n":123456789012345678901234567890}`},
		"a file with a byte order mark": {"a=@bom.json", `[1]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, warnings, err := parseKWArgs([]string{tt.word}, dir)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("warnings %q, error %v", warnings, err)
			}
			if diff := cmp.Diff(map[string]string{"a": tt.want}, texts(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func texts(kwargs map[string]json.RawMessage) map[string]string {
	out := map[string]string{}
	for name, value := range kwargs {
		out[name] = string(value)
	}
	return out
}

func TestParseKWArgsKeepsAll(t *testing.T) {
	got, _, err := parseKWArgs([]string{"b=1", "a=2", "größe=x", "_1=null"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "2", "b": "1", "größe": `"x"`, "_1": "null"}
	if diff := cmp.Diff(want, texts(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseKWArgsWarns(t *testing.T) {
	tests := map[string]struct{ word, text, warning string }{
		"False is true as a string":       {"a=False", `"False"`, `--arg a: "False" is passed as a string: in JSON it is false`},
		"True":                            {"a=True", `"True"`, `in JSON it is true`},
		"None":                            {"a=None", `"None"`, `in JSON it is null`},
		"an object of Python":             {"a={'b': 1}", `"{'b': 1}"`, `--arg a: {'b': 1} is not JSON, so it is passed as a string`},
		"a number that begins with a dot": {"a=.5", `".5"`, `--arg a: ".5" is passed as a string: for a number, write 0.5`},
		"one that ends with it":           {"a=-5.", `"-5."`, `write -5.0`},
		"one with a plus":                 {"a=+1e-4", `"+1e-4"`, `write 1e-4`},
		"one with underscores":            {"a=1_000_000", `"1_000_000"`, `write 1000000`},
		"no number at all":                {"a=NaN", `"NaN"`, `"NaN" is passed as a string: JSON has no such number`},
		"none that ends":                  {"a=-inf", `"-inf"`, `JSON has no such number`},
		"a list that does not end":        {"a=[1,", `"[1,"`, `is not JSON`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, warnings, err := parseKWArgs([]string{tt.word}, t.TempDir())
			if err != nil || string(got["a"]) != tt.text {
				t.Fatalf("got %s, %v", got["a"], err)
			}
			if len(warnings) != 1 || !strings.Contains(warnings[0], tt.warning) {
				t.Errorf("got %q, want %q", warnings, tt.warning)
			}
		})
	}
}

func TestParseKWArgsRejects(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bad.json"), "{\n  \"é\": 1,\n  \"é\" 2\n}\n")
	write(t, filepath.Join(dir, "cut.json"), "[1,\n2")
	write(t, filepath.Join(dir, "empty.json"), "")
	write(t, filepath.Join(dir, "two.json"), "1\n2\n")
	write(t, filepath.Join(dir, "latin1.json"), "\"\xe9\"")
	tests := map[string]struct {
		words []string
		want  string
	}{
		"no =":                       {[]string{"lr"}, "--arg lr: expected NAME=VALUE"},
		"no name":                    {[]string{"=3"}, `--arg =3: "" is not a Python parameter name`},
		"a name with a dash":         {[]string{"batch-size=3"}, `"batch-size" is not a Python parameter name`},
		"a name that begins with 1":  {[]string{"1a=3"}, `"1a" is not a Python parameter name`},
		"a name twice":               {[]string{"a=1", "b=2", "a=1"}, "--arg a=1: a given twice"},
		"a name twice, null first":   {[]string{"a=null", "a=1"}, "a given twice"},
		"a value that is not UTF-8":  {[]string{"a=\xff"}, "--arg a: the value is not UTF-8"},
		"JSON that is not UTF-8":     {[]string{"a=\"\xff\""}, "--arg a: the value is not UTF-8"},
		"no file after @":            {[]string{"a=@"}, "--arg a: name a JSON file after @"},
		"a file that is not there":   {[]string{"a=@gone.json"}, `gone.json: no such file or directory; @ names a JSON file; for the text itself, use '"@gone.json"'`},
		"a directory":                {[]string{"a=@."}, "is a directory"},
		"a file that is not JSON":    {[]string{"a=@bad.json"}, "--arg a: bad.json, line 3, column 7: not JSON: invalid character '2'"},
		"a file that ends too early": {[]string{"a=@cut.json"}, "cut.json, line 2, column 2: not JSON: unexpected end"},
		"an empty file":              {[]string{"a=@empty.json"}, "empty.json, line 1, column 1: not JSON: unexpected end"},
		"a file with two values":     {[]string{"a=@two.json"}, "two.json, line 2, column 1: not JSON"},
		"a file that is not UTF-8":   {[]string{"a=@latin1.json"}, "latin1.json is not UTF-8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, _, err := parseKWArgs(tt.words, dir)
			if err == nil {
				t.Fatalf("got %v, want an error", got)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want %q in it", err, tt.want)
			}
		})
	}
}

// Every value that is taken is one JSON value, and one that was JSON already
// means the same as before.
func FuzzParseKWArgs(f *testing.F) {
	for _, seed := range []string{"a=1", "a=1e400", "a=-0", "a=", "a", "a=b=c", "é=\"\\ud800\"", "a={\"b\":[1, 2]}", "a=\u2028", "a=\xff", "a= [ ] "} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, word string) {
		name, text, _ := strings.Cut(word, "=")
		got, _, err := parseKWArgs([]string{word}, dir)
		if err != nil {
			return
		}
		value := got[name]
		if len(got) != 1 || !isIdentifier(name) || !json.Valid(value) || !utf8.Valid(value) {
			t.Fatalf("%q: got %q", word, texts(got))
		}
		if json.Valid([]byte(text)) {
			if string(value) != strings.TrimSpace(text) && len(value) >= len(text) {
				t.Errorf("%q: JSON became %q", word, value)
			}
			return
		}
		var back string
		if err := json.Unmarshal(value, &back); err != nil || back != text {
			t.Errorf("%q: came back as %q, %v", word, back, err)
		}
	})
}
