package call

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// python is the interpreter of this machine; tests that need one are skipped
// where there is none.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not on PATH: ", err)
	}
	// A shim that chooses among several pythons takes longer than python itself.
	const where = "import sys; sys.stdout.write(sys.executable if sys.version_info >= (3, 9) else '')"
	out, err := exec.Command(path, "-I", "-S", "-c", where).Output()
	if err != nil || len(out) == 0 {
		t.Skip("python3 does not work or is older than 3.9: ", err)
	}
	return string(out)
}

// query asks for function f of a source text.
func query(t *testing.T, source string, args ...string) Query {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.py")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return Query{Path: path, Name: "train.py", Function: "f", Args: args}
}

type args []string

// Arguments that are passed by their place are those that no one has to name.
func TestCheckPositional(t *testing.T) {
	python := python(t)
	for source, err := range map[string]string{
		"def f(a, b): pass\n":         "missing argument b",
		"def f(a, /, b=1): pass\n":    "",
		"def f(a, *, b): pass\n":      "missing argument b",
		"def f(*all): pass\n":         "",
		"def f(a, b=1, *, c=2): pass": "",
		"def f(): pass\n":             "f takes (): too many positional arguments: 1, at most 0",
		"def f(*, a=1): pass\n":       "at most 0",
		"def f(z, a=1): pass\n":       "z is passed both by position and by name: omit --arg z",
		"def f(z, /, **kw): pass\n":   "",
	} {
		q := query(t, source)
		q.Forms = []Form{{Line: 1, Positional: 1}}
		if strings.Contains(source, "z") {
			q.Args = []string{"z"}
		}
		if _, got := Check(t.Context(), python, q); (got != nil) != (err != "") || got != nil && !strings.Contains(got.Error(), err) {
			t.Errorf("%q: %v, want %q", source, got, err)
		}
	}
}

// Each form of a map's inputs is checked, and the line told of the first that is wrong.
func TestCheckForms(t *testing.T) {
	python := python(t)
	good := Form{Line: 1, Names: []string{"x"}}
	for name, tt := range map[string]struct {
		forms []Form
		want  string
	}{
		"all are right":   {[]Form{good, {Line: 2, Positional: 1}, {Line: 3, Names: []string{"x", "y"}}}, ""},
		"another name":    {[]Form{good, {Line: 501, Names: []string{"z"}}}, "line 501: train.py:f takes (x, y=…, *, every): it has no parameter z; missing argument x"},
		"nothing":         {[]Form{good, {Line: 2}, {Line: 3}}, "line 2: train.py:f takes (x, y=…, *, every): missing argument x"},
		"too many places": {[]Form{{Line: 1, Positional: 5}}, "line 1: train.py:f takes (x, y=…, *, every): too many positional arguments: 5, at most 2"},
	} {
		q := query(t, "def f(x, y=1, *, every): pass\n", "every")
		q.Forms = tt.forms
		_, err := Check(t.Context(), python, q)
		if got := fmt.Sprint(err); (err != nil) != (tt.want != "") || err != nil && got != tt.want {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if wrong := new(LineError); err != nil && !errors.As(err, &wrong) {
			t.Errorf("%s: %T, want a LineError", name, err)
		}
	}
}

func TestCheckAllows(t *testing.T) {
	tests := map[string]struct {
		source string
		args
	}{
		"no parameters":                        {"def f(): pass\n", nil},
		"a required parameter":                 {"def f(a): pass\n", args{"a"}},
		"defaults are optional":                {"def f(a, b=1, *, c=2): pass\n", args{"a"}},
		"all by name":                          {"def f(a, b=1, *, c): pass\n", args{"c", "b", "a"}},
		"**kw takes every name":                {"def f(a, **kw): pass\n", args{"a", "x", "class"}},
		"*args needs nothing":                  {"def f(*args): pass\n", nil},
		"positional-only with a default":       {"def f(a=1, /, b=2): pass\n", args{"b"}},
		"its name again among **kw":            {"def f(a=1, /, **kw): pass\n", args{"a"}},
		"annotations":                          {"def f(a: int, b: 'str' = '') -> None: ...\n", args{"a"}},
		"an annotation that is not text":       {"def f(a: '\\ud800', b: '\\0'): ...\n", args{"a", "b"}},
		"no newline at the end":                {"def f(): pass", nil},
		"carriage returns":                     {"def f(\r\n    a,\r\n):\r\n    return a\r\n", args{"a"}},
		"a byte order mark":                    {"\ufeffdef f(): pass\n", nil},
		"a form feed":                          {"\x0c\ndef f(): pass\n", nil},
		"an encoding":                          {"# -*- coding: latin-1 -*-\ns = '\xe9'\ndef f(a): pass\n", args{"a"}},
		"letters of another script":            {"größe = 1\ndef f(größe): pass\n", args{"größe"}},
		"a method of the same name":            {"class A:\n    def f(self, x): pass\n\ndef f(): pass\n", nil},
		"a local variable of the same name":    {"def g():\n    f = 1\n    return f\ndef f(): pass\n", nil},
		"an inner function of the same name":   {"def g():\n    def f(x): yield x\n    return f\ndef f(): pass\n", nil},
		"a yield of an inner function":         {"def f():\n    def g():\n        yield 1\n    return list(g())\n", nil},
		"a yield of an inner lambda":           {"def f():\n    return lambda: (yield)\n", nil},
		"model.eval() is no eval":              {"def f(model):\n    model.eval()\n", args{"model"}},
		"the guard of a script":                {"def f(): pass\n\nif __name__ == '__main__':\n    f()\n", nil},
		"an invalid escape is only a warning":  {"def f(): return '\\d'\n", nil},
		"decorated by us":                      {"import kinetic\n@kinetic.run(accelerator='l4')\ndef f(a): pass\n", args{"a"}},
		"and without parentheses":              {"import kinetic\n@kinetic.run\ndef f(a): pass\n", args{"a"}},
		"a comment at the end, no code at all": {"def f(): pass\n# bye", nil},
	}
	py := python(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Check(t.Context(), py, query(t, tt.source, tt.args...))
			if err != nil {
				t.Fatalf("false alarm: %v", err)
			}
			if diff := cmp.Diff(Finding{Python: py}, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Finding{}, "Declared", "Positional", "Decorator")); diff != "" {
				t.Errorf("want certainty (-want +got):\n%s", diff)
			}
		})
	}
}

// A script is read, and its names are its own business.
func TestCheckScripts(t *testing.T) {
	py := python(t)
	for source, want := range map[string]string{
		"import nothing\nexec('x')\n":  "",
		"def f():\n    yield 1\nf()\n": "",
		"print('a'\nprint(b)\n":        "train.py, line 1: '(' was never closed",
		"if True:\nprint(1)\n":         "train.py, line 2: expected an indented block",
		"return 1\n":                   "train.py, line 1: 'return' outside function",
	} {
		q := query(t, source)
		q.Function = ""
		got, err := Check(t.Context(), py, q)
		if want == "" && (err != nil || !cmp.Equal(got, Finding{Python: py}, cmpopts.EquateEmpty())) || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: got %+v, %v, want %q", source, got, err, want)
		}
	}
}

func TestCheckTakesCoroutines(t *testing.T) {
	py := python(t)
	got, err := Check(t.Context(), py, query(t, "async def f():\n    async with x: await y\n"))
	if err != nil || !cmp.Equal(got, Finding{Python: py}, cmpopts.EquateEmpty()) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whatever may make the name something else than the def that is seen is left
// to the pod, even where the arguments look wrong.
func TestCheckLeavesToPod(t *testing.T) {
	const def = "def f(): pass\n"
	tests := map[string]struct{ source, why string }{
		"a decorator":                   {"@cached\n" + def, "decorated"},
		"a decorated generator":         {"import contextlib\n@contextlib.contextmanager\ndef f(): yield 1\n", "decorated"},
		"a decorated coroutine":         {"@wrap\nasync def f(): pass\n", "decorated"},
		"a definition under if":         {"if X:\n    def f(): pass\n", "top level"},
		"one under try":                 {"try:\n    import x\nexcept ImportError:\n    def f(): pass\n", "top level"},
		"one under with":                {"with x:\n    def f(): pass\n", "top level"},
		"one under for":                 {"for x in y:\n    def f(): pass\n", "top level"},
		"one under while":               {"while x:\n    def f(): pass\n", "top level"},
		"two definitions":               {def + "def f(a): pass\n", "more than once"},
		"two under if and else":         {"if X:\n    def f(): yield\nelse:\n    def f(): pass\n", "more than once"},
		"an assignment":                 {"f = make()\n", "plain function"},
		"an assigned lambda":            {"f = lambda: 1\n", "plain function"},
		"an assignment to several":      {"a, (f, *b) = make()\n", "plain function"},
		"an annotated assignment":       {"f: object = make()\n", "plain function"},
		"another assignment":            {def + "f = wrap(f)\n", "more than once"},
		"an augmented assignment":       {def + "f |= 1\n", "more than once"},
		"a class":                       {"class f: pass\n", "plain function"},
		"an import":                     {"import f\n", "plain function"},
		"an import of a part":           {"import f.g\n", "plain function"},
		"an import as":                  {"import x as f\n", "plain function"},
		"a re-export":                   {"from .x import f\n", "plain function"},
		"a renamed re-export":           {"from .x import g as f\n", "plain function"},
		"an import of *":                {"from .x import *\n", "import of *"},
		"an import of * beside the def": {"from .x import *\n" + def, "import of *"},
		"an import of * under try":      {"try:\n    from .x import *\nexcept ImportError:\n    pass\n", "import of *"},
		"the module's __getattr__":      {"def __getattr__(name): return 1\n", "__getattr__"},
		"its __getattr__ under if":      {"if X:\n    def __getattr__(name): return 1\n", "__getattr__"},
		"its __getattr__ imported":      {"from lazy import attach as __getattr__\n", "__getattr__"},
		"its __getattr__ unpacked":      {"__getattr__, __dir__ = attach()\n", "__getattr__"},
		"globals()":                     {"globals()['f'] = 1\n", "globals"},
		"locals()":                      {"locals().update(x)\n", "locals"},
		"vars()":                        {"vars()['f'] = 1\n", "vars"},
		"exec":                          {"exec('def f(): pass')\n", "exec"},
		"eval":                          {"eval('x')\n", "eval"},
		"delattr":                       {def + "delattr(me, 'f')\n", "delattr"},
		"the module's __dict__":         {"import me\nme.__dict__['f'] = 1\n", "__dict__"},
		"exec by way of builtins":       {"import builtins\nbuiltins.exec('def f(): pass')\n", "builtins"},
		"the names of a frame":          {"import sys\nsys._getframe().f_globals['f'] = 1\n", "f_globals"},
		"changed defaults":              {"def f(a): pass\nf.__defaults__ = (1,)\n", "__defaults__"},
		"exec inside a function":        {def + "def g(): exec('global f; f = 1')\n", "exec"},
		"sys.modules":                   {"import sys\nsys.modules[__name__] = X()\n", "modules"},
		"from sys import modules":       {"from sys import modules as m\nm[__name__] = X()\n", "modules"},
		"setattr":                       {"import me\nsetattr(me, 'f', 1)\n", "setattr"},
		"an assigned attribute":         {def + "import me\nme.f = 1\n", "attribute f"},
		"a changed signature":           {def + "f.__code__ = g.__code__\n", "__code__"},
		"a global statement":            {def + "def g():\n    global f\n    f = 1\n", "global"},
		"a global in a method":          {def + "class A:\n    def g(self):\n        global f\n        f = 1\n", "global"},
		"a global that defines":         {"def g():\n    global f\n    def f(a): pass\n", "global"},
		"a del":                         {def + "del f\n", "more than once"},
		"a for target":                  {def + "for f in x: pass\n", "more than once"},
		"a with target":                 {def + "with x as (f, g): pass\n", "more than once"},
		"an except target":              {def + "try: pass\nexcept E as f: pass\n", "more than once"},
		"a walrus":                      {def + "if (f := x): pass\n", "more than once"},
		"a walrus in a comprehension":   {def + "[(f := x) for x in y]\n", "more than once"},
		"a walrus in a default":         {def + "def g(a=(f := 1)): pass\n", "more than once"},
		"a walrus in a decorator":       {def + "@(f := x)\ndef g(): pass\n", "more than once"},
		"a walrus in a base class":      {def + "class A(f := x): pass\n", "more than once"},
		"a walrus in a lambda default":  {def + "g = lambda a=(f := 1): a\n", "more than once"},
		"an unknown encoding":           {"# coding: future_fstrings\n" + def, "unknown encoding"},
		"nesting beyond the parser":     {"x = " + strings.Repeat("-", 100_000) + "1\n" + def, "deeply nested"},
		"an overload":                   {"from typing import overload\n@overload\ndef f(a): ...\ndef f(a, b=1): ...\n", "more than once"},
	}
	py := python(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Check(t.Context(), py, query(t, tt.source, "wrong"))
			if err != nil {
				t.Fatalf("false alarm: %v", err)
			}
			if !strings.Contains(got.LeftToPod, tt.why) || got.Unchecked != "" || got.Python != py {
				t.Errorf("got %+v, want left to the pod because of %q", got, tt.why)
			}
		})
	}
}

// Syntax that not every python has: left to the pod by those that have it, and
// said, or an error that names the version, by the others.
func TestCheckNewSyntax(t *testing.T) {
	const def = "def f(): pass\n"
	tests := map[string]string{
		"match captures a name":   def + "match x:\n    case [f, *_]: pass\n",
		"match captures the rest": def + "match x:\n    case {**f}: pass\n",
		"match captures a star":   def + "match x:\n    case [*f]: pass\n",
		"match captures as":       def + "match x:\n    case 1 as f: pass\n",
		"a def under match":       "match x:\n    case 1:\n        def f(): pass\n",
		"a type statement":        def + "type f = int\n",
		"a walrus in annotation":  def + "def g() -> (f := x): pass\n",
		"type parameters":         "@d\ndef f[T](a: T) -> T: pass\n",
	}
	py := python(t)
	for name, source := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Check(t.Context(), py, query(t, source, "wrong"))
			if err != nil && !strings.Contains(err.Error(), "(reported by python 3.") {
				t.Errorf("false alarm: %v", err)
			}
			if err == nil && got.LeftToPod == "" && got.Unchecked == "" {
				t.Errorf("got %+v, want left to the pod", got)
			}
		})
	}
}

func TestCheckRejects(t *testing.T) {
	tests := map[string]struct {
		source string
		args
		want []string
	}{
		"a name that is nearly right":  {"def ff(): pass\ndef train(): pass\n", nil, []string{"train.py has no function f", `did you mean "ff"?`}},
		"no such function, others":     {"def train(): pass\nif X:\n    def evaluate(): pass\n", nil, []string{"train.py has no function f; it has evaluate, train"}},
		"no such function, many":       {"def a1(): 0\ndef b1(): 0\ndef c1(): 0\ndef d1(): 0\ndef e1(): 0\ndef g1(): 0\n", nil, []string{"it has a1, b1, c1, d1, e1 and 1 more"}},
		"no function at all":           {"print('hi')\n", nil, []string{"has no function f; it has no functions", "run the file as a script"}},
		"an empty file":                {"", nil, []string{"has no function f"}},
		"only a method":                {"class Trainer:\n    async def f(self): pass\n", nil, []string{"only the method Trainer.f", "add a function"}},
		"only a local function":        {"def train():\n    def f(): pass\n", nil, []string{"has no function f"}},
		"a builtin":                    {"import os\nprint(f)\n", nil, []string{"has no function f"}},
		"a name only in __all__":       {"__all__ = ['f']\n", nil, []string{"has no function f"}},
		"a generator":                  {"def f():\n    if X:\n        yield 1\n", nil, []string{"train.py:f (line 1) is a generator function"}},
		"yield from":                   {"\ndef f():\n    yield from x\n", nil, []string{"(line 2) is a generator"}},
		"a yield that is never met":    {"def f():\n    return 1\n    yield\n", nil, []string{"is a generator"}},
		"a yield in a default":         {"def f():\n    def g(x=(yield)): pass\n", nil, []string{"is a generator"}},
		"an async generator":           {"async def f(): yield 1\n", nil, []string{"is a generator"}},
		"an argument nearly right":     {"def f(epochs=1, *, lr=0.1): pass\n", args{"epoch"}, []string{"train.py:f takes (epochs=…, *, lr=…)", "no parameter epoch", `did you mean "epochs"?`}},
		"*args takes no names":         {"def f(a=1, *args): pass\n", args{"b"}, []string{"takes (a=…, *args)", "no parameter b"}},
		"the name of **kw is no name":  {"def f(a, **kw): pass\n", args{"kw"}, []string{"takes (a, **kw)", "add --arg a=…"}},
		"a required one, nearly right": {"def f(steps, lr): pass\n", args{"step"}, []string{`it has no parameter step (did you mean "steps"?); add --arg lr=…`}},
		"missing arguments":            {"def f(a, b, c=1, *, d, e=2): pass\n", args{"b"}, []string{"add --arg a=… --arg d=…"}},
		"missing for a coroutine":      {"async def f(a): pass\n", nil, []string{"add --arg a=…"}},
		"several mistakes at once":     {"def f(a): pass\n", args{"x", "y"}, []string{"no parameter x", "no parameter y", "add --arg a=…"}},
		"positional-only":              {"def f(a, /, b=1): pass\n", args{"a"}, []string{"takes (a, /, b=…): a cannot be passed by name: remove the /"}},
		"positional-only, not given":   {"def f(a, /, **kw): pass\n", nil, []string{"a cannot be passed by name"}},
		"bad syntax":                   {"x = 1\ndef f(:\n    pass\n", nil, []string{"train.py, line 2: invalid syntax (reported by python 3.", "def f(:"}},
		"bad indentation":              {"def f():\npass\n", nil, []string{"train.py, line 2: expected an indented block"}},
		"Python 2":                     {"def f():\n    print 'hi'\n", nil, []string{"train.py, line 2: Missing parentheses"}},
		"return outside of a def":      {"def f(): pass\nreturn 1\n", nil, []string{"line 2: 'return' outside function"}},
		"a doubled parameter":          {"def f(a, a): pass\n", nil, []string{"line 1: duplicate argument 'a'"}},
		"null bytes":                   {"def f(): pass\n\x00", nil, []string{"line 2: source code cannot contain null bytes"}},
		"not UTF-8":                    {"def f(): return '\xe9'\n", nil, []string{"line 1:", "utf-8"}},
	}
	py := python(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Check(t.Context(), py, query(t, tt.source, tt.args...))
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
		})
	}
}

// The parameters of the decorator are read without running it, whatever is sure about the function.
func TestCheckDecorator(t *testing.T) {
	python := python(t)
	text := func(s string) *string { return &s }
	l4 := []Parameter{{"accelerator", text("l4")}}
	for source, want := range map[string][]Parameter{
		"def f(): pass": nil,
		"import kinetic\n@kinetic.run\ndef f(): pass":                                               nil,
		"import kinetic\n@kinetic.run()\ndef f(): pass":                                             nil,
		"import kinetic\n@kinetic.run('l4')\nasync def f(): pass":                                   l4,
		"import kinetic\n@kinetic.run(accelerator='l4')\n@mine\ndef f(): pass":                      l4,
		"import kinetic\nexec('')\n@kinetic.run(accelerator='l4', cpu=None)\ndef f(): pass":         l4,
		"import kinetic\n@kinetic.run(accelerator=WHICH, **more)\ndef f(): pass":                    {{"accelerator", nil}},
		"import kinetic\n@kinetic.run(cpu=4, spot=True, env={'A': 'B'}, retries=-1)\ndef f(): pass": {{"cpu", text("4")}, {"spot", text("true")}, {"env", nil}, {"retries", nil}},
		"import kinetic\n@kinetic.run(cpu=4)\ndef g(): pass\ndef f(): pass":                         nil,
		"import other as kinetic\n@kinetic.run(cpu=4)\ndef f(): pass":                               nil,
	} {
		found, err := Check(t.Context(), python, query(t, source))
		if diff := cmp.Diff(want, found.Decorator, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", source, err, diff)
		}
	}
}
