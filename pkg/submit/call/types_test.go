package call

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFit(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.json"), "1.10")
	write(t, filepath.Join(dir, "large.json"), "{\"a\": [1, -1e400]}")
	const infinity = "--arg a: Python would read the number 1e400 as infinity, because it is too large for a float; for a text, put it in double quotes, as in '\"1e400\"'"
	large := strings.Repeat("9", 400)
	tests := map[string]struct {
		types []string
		fits  map[string]string // what is typed, and the value in JSON
		wrong map[string]string // what is typed, and what the error says
	}{
		"str": {[]string{"str"}, map[string]string{"1.10": `"1.10"`, "true": `"true"`, " [1, 2]": `" [1, 2]"`, `"1.10"`: `"1.10"`,
			"null": "null", "@x.json": "1.10", "x": `"x"`, "7e99999": `"7e99999"`}, map[string]string{"@large.json": "number -1e400 as infinity"}},
		"int": {[]string{"int"}, map[string]string{"3": "3", "-3": "-3", "null": "null", large: large},
			map[string]string{"two": "--arg a=two: a is declared as int: write a value such as --arg a=3", "2.5": "a=3", "3.0": "write --arg a=3",
				"1_000": "write --arg a=1000", "true": "a=3", `"3"`: "a=3", "[1]": "a=3", "1e3": "a=3", "@x.json": "a=3"}},
		"float": {[]string{"float"}, map[string]string{"3": "3", "1e-3": "1e-3", "@x.json": "1.10"},
			map[string]string{".1": "write --arg a=0.1", "1_000.5": "write --arg a=1000.5", "x": "a=0.1", "false": "a=0.1", "1e400": infinity, "inf": "JSON has no such number", "-nan": "JSON has no such number"}},
		"bool": {[]string{"bool"}, map[string]string{"true": "true", "false": "false"},
			map[string]string{"False": `--arg a=False: a is declared as bool: write --arg a=false`, "no": "a=false", "FALSE": "a=false",
				"yes": "a=true", "1": "a=true", "0": "a=false", "maybe": "a=true"}},
		"list":        {[]string{"list"}, map[string]string{"[1,2]": "[1,2]"}, map[string]string{"1,2": "write a value such as --arg a='[1, 2]'", "{}": "list"}},
		"dict":        {[]string{"dict"}, map[string]string{"{}": "{}"}, map[string]string{"a:1": `--arg a='{"a": 1}'`}},
		"int or None": {[]string{"int", "None"}, map[string]string{"3": "3", "null": "null"}, map[string]string{"None": "is declared as int | None: write --arg a=null", "x": "a=3"}},
		"int or str":  {[]string{"int", "str"}, map[string]string{"3": "3", "x": `"x"`, "2.5": `"2.5"`}, nil},
		"not declared": {nil, map[string]string{"3": "3", "False": `"False"`, "1e308": "1e308", "1e-400": "1e-400", large: large, `"1e400"`: `"1e400"`},
			map[string]string{"1e400": infinity, `{"a":[1,-1E+999]}`: "number -1E+999 as infinity", large + ".0": "as infinity", "@large.json": "number -1e400"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			declared := Declared{}
			if tt.types != nil {
				declared["a"] = tt.types
			}
			fit := func(text string) (map[string]string, error) {
				words := []string{"a=" + text}
				kwargs, _, err := parseKWArgs(words, dir)
				if err != nil {
					t.Fatal(err)
				}
				got, err := declared.Fit(kwargs, words)
				return texts(got), err
			}
			for text, want := range tt.fits {
				if got, err := fit(text); err != nil || got["a"] != want {
					t.Errorf("%s: got %s, %v, want %s", text, got["a"], err, want)
				}
			}
			for text, want := range tt.wrong {
				if got, err := fit(text); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got %s, %v, want %q", text, got["a"], err, want)
				}
			}
		})
	}
}

func TestCheckFindsTypes(t *testing.T) {
	q := query(t, `from typing import List, Optional, Union
import typing, numpy as np
from chex import Array
class float: pass
def f(a: str, b: "str", c: int | None, d, *, e: Optional[int] = 1, f: list[str] = [], g: typing.Dict[str, int] = {}, h: Union[int, str] = 1,
      p: typing.Sequence[str] = "", q: np.float = 1, r: Array = None,
      i: np.ndarray = None, j: float = 1, k: Optional[np.ndarray] = None, l: List[int] = (), m: "a b" = 1, n: bool = False, o: str = ""): pass
`, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "p", "q", "r")
	got, err := Check(t.Context(), python(t), q)
	want := Declared{
		"a": {"str"}, "b": {"str"}, "c": {"int", "None"}, "e": {"int", "None"}, "f": {"list"}, "g": {"dict"}, "h": {"int", "str"},
		"l": {"list"}, "n": {"bool"}, "o": {"str"},
	}
	if diff := cmp.Diff(want, got.Declared); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestCheckIdleScripts(t *testing.T) {
	py := python(t)
	for source, want := range map[string]string{
		"'''Doc.'''\nimport os\nN = 3\ndef load(): pass\ndef train(): load()\n": "train.py only defines functions and calls none: to call one, write train.py:train",
		"def train(): pass\ndef plot(): pass\n":                                 "train.py only defines functions and calls none: to call one, write train.py:train",
		"def score(): pass\ndef report(): pass\n":                               "train.py only defines functions and calls none: to call one, write train.py:report",
		"def train(): pass\ntrain()\n":                                          "",
		"def train(): pass\nif __name__ == '__main__': train()\n":               "",
		"def f(): pass\nx = f()\n":                                              "",
		"@register\ndef f(): pass\n":                                            "",
		"def f(x=print(1)): pass\n":                                             "",
		"class A:\n    print(1)\ndef f(): pass\n":                               "",
		"import torch\n":                                                        "",
	} {
		q := query(t, source)
		q.Function = ""
		if got, err := Check(t.Context(), py, q); err != nil || got.Idle != want {
			t.Errorf("%q: got %q, %v, want %q", source, got.Idle, err, want)
		}
	}
}

func TestCheckInputs(t *testing.T) {
	declared := Declared{"n": {"int"}, "lr": {"float", "None"}, "on": {"bool"}, "names": {"list"}, "text": {"str"}}
	for name, tt := range map[string]struct {
		value Value
		want  string // "" for no error
	}{
		"an int":                {Value{Line: 3, Name: "n", JSON: "2"}, ""},
		"an int for a float":    {Value{Line: 3, Name: "lr", JSON: "2"}, ""},
		"null":                  {Value{Line: 3, Name: "on", JSON: "null"}, ""},
		"a number for a str":    {Value{Line: 3, Name: "text", JSON: "2"}, ""},
		"not declared":          {Value{Line: 3, Name: "other", JSON: "2"}, ""},
		"beyond the parameters": {Value{Line: 3, Position: 5, JSON: "2"}, ""},
		"a fraction for an int": {Value{Line: 3, Name: "n", JSON: "2.5"}, "line 3: n is declared as int, and is 2.5: write a value such as 3"},
		"a number in quotes":    {Value{Line: 3, Name: "n", JSON: `"2"`}, `line 3: n is declared as int, and is "2": write 2`},
		"a word for a float":    {Value{Line: 4, Name: "lr", JSON: `"x"`}, `line 4: lr is declared as float | None, and is "x": write a value such as 0.1`},
		"None":                  {Value{Line: 4, Name: "lr", JSON: `"None"`}, `line 4: lr is declared as float | None, and is "None": write null`},
		"a number for a bool":   {Value{Line: 4, Name: "on", JSON: "0"}, "line 4: on is declared as bool, and is 0: write false"},
		"a bool for an int":     {Value{Line: 4, Position: 0, JSON: "true"}, "line 4: n is declared as int, and is true: write a value such as 3"},
		"a string for a list":   {Value{Line: 4, Position: 1, JSON: `"a,b…`}, `line 4: names is declared as list, and is "a,b…: write a value such as [1, 2]`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := declared.CheckInputs([]string{"n", "names"}, []Value{{Line: 1, Name: "n", JSON: "1"}, tt.value}); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
