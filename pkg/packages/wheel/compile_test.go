package wheel_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// findPython returns the interpreter of this machine and its version.
var findPython = sync.OnceValues(func() ([]string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])\nprint(sys.executable)").Output()
	return strings.Fields(string(out)), err
})

// python returns the interpreter of this machine and the layout for it.
func python(t testing.TB) (string, wheel.Layout) {
	t.Helper()
	words, err := findPython()
	if err != nil {
		t.Skipf("there is no python3: %v", err)
	}
	return words[1], wheel.Layout{Prefix: layout.Prefix, Python: words[0]}
}

func openIn(t testing.TB, l wheel.Layout, fileName string, members ...member) *wheel.Wheel {
	t.Helper()
	data := string(wheelOf(t, fileName, members...))
	w, err := wheel.Open(fileName, strings.NewReader(data), int64(len(data)), l)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

const modName = "mod-1-py3-none-any.whl"

func modules() []member {
	return []member{
		{name: "mod/__init__.py", data: "import sys\nsys.exit('executed')\n"},
		{name: "mod/answer.py", data: "def answer():\n    return {'x', 'y', 'z'}, 42\n"},
		{name: "mod/broken.py", data: "def broken(:\n"},
		{name: "mod/nul.py", data: "x\x00y"},
		{name: "mod/escape.py", data: "x = '\\d'\n"},
		{name: "mod/latin.py", data: "# -*- coding: latin-1 -*-\nx = '\xe9'\n"},
		{name: "mod/data.txt", data: "def"},
		{name: "mod-1.data/purelib/other.py", data: "other = 1\n"},
		{name: "mod-1.data/scripts/tool.py", data: "#!python\nprint(1)\n"},
	}
}

func TestCompile(t *testing.T) {
	interpreter, l := python(t)
	w := openIn(t, l, modName, modules()...)
	compiled, err := wheel.Compiler{Python: interpreter}.Compile(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	layer := layerOf(t, compiled)
	files, _ := unpack(t, layer)
	checkRecords(t, files)
	tag := "cpython-" + strings.Replace(l.Python, ".", "", 1)
	place := l.Prefix + "/lib/python" + l.Python + "/site-packages/"
	has := func(name string) bool { _, ok := files[place+name]; return ok }
	for name, want := range map[string]bool{"mod/__init__": true, "mod/answer": true, "mod/escape": true, "mod/latin": true, "mod/broken": false, "mod/nul": false, "other": true} {
		dir, base := filepath.Split(name)
		if has(dir+"__pycache__/"+base+"."+tag+".pyc") != want {
			t.Errorf("bytecode of %s: %v, want %v", name, !want, want)
		}
	}
	for name := range mustUnpack(t, layerOf(t, w)) { // which has whiteouts for all modules
		if deleted, ok := whiteout(name); files[name].Name == "" && (!ok || files[deleted].Name == "") {
			t.Errorf("%s is missing", name)
		}
	}

	// The interpreter uses the bytecode as it is: it gives another answer than the source,
	// which was replaced.
	dir := t.TempDir()
	pyc := files[place+"mod/__pycache__/answer."+tag+".pyc"].data
	write(t, filepath.Join(dir, "answer.py"), "raise SystemExit('the source was used')\n")
	write(t, filepath.Join(dir, "__pycache__", "answer."+tag+".pyc"), pyc)
	program := fmt.Sprintf("import sys; sys.path.insert(0, %q)\nimport answer\nprint(answer.answer()[1])", dir)
	out, err := exec.Command(interpreter, "-c", program).CombinedOutput()
	if err != nil || string(out) != "42\n" {
		t.Errorf("%v: %s, want 42", err, out)
	}

	again, err := wheel.Compiler{Python: interpreter}.Compile(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	if l := layerOf(t, again); l.Digest != layer.Digest {
		t.Errorf("the second time, the layer is %s, and was %s", l.Digest, layer.Digest)
	}
}

func mustUnpack(t *testing.T, l *wheel.Layer) map[string]unpacked {
	files, _ := unpack(t, l)
	return files
}

func write(t testing.TB, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	// A program that another test starts at this moment would hold the file open, which then can't be executed: go.dev/issue/22315.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestBytecodeOfAWheelIsKept(t *testing.T) {
	interpreter, l := python(t)
	name := "__pycache__/a.cpython-" + strings.Replace(l.Python, ".", "", 1) + ".pyc"
	w := openIn(t, l, modName, member{name: "a.py", data: "a = 1\n"}, member{name: name, data: "its own"})
	compiled, err := wheel.Compiler{Python: interpreter}.Compile(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := unpack(t, layerOf(t, compiled))
	if got := files[l.Prefix+"/lib/python"+l.Python+"/site-packages/"+name].data; got != "its own" {
		t.Errorf("the bytecode is %q", got)
	}
}

// Bytecode of another wheel's module must not be used: it is not compared with its module.
func TestBytecodeBelongsToItsModule(t *testing.T) {
	interpreter, l := python(t)
	compile := func(file, source string) *wheel.Wheel {
		w, err := wheel.Compiler{Python: interpreter}.Compile(context.Background(), openIn(t, l, file, member{name: "ns/a.py", data: source}))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	a, b, broken := compile("a-1-py3-none-any.whl", "a = 1\n"), compile("b-1-py3-none-any.whl", "a = 2\n"), compile("c-1-py3-none-any.whl", "a = (\n")
	for _, tt := range []struct {
		wheels []*wheel.Wheel
		want   bool
	}{{[]*wheel.Wheel{a, b}, true}, {[]*wheel.Wheel{a, broken}, false}, {[]*wheel.Wheel{broken, a}, true}} {
		layer := layerOf(t, tt.wheels...)
		files, _ := unpack(t, layer)
		place := l.Prefix + "/lib/python" + l.Python + "/site-packages/ns/"
		if _, got := files[place+"__pycache__/a.cpython-"+strings.Replace(l.Python, ".", "", 1)+".pyc"]; got != tt.want {
			t.Errorf("bytecode: %v, want %v", got, tt.want)
		}
	}
}

func TestCompileWithoutModulesNeedsNoInterpreter(t *testing.T) {
	w := openOf(t, modName, member{name: "data.txt", data: "x"})
	if got, err := (wheel.Compiler{Python: "/does/not/exist"}).Compile(context.Background(), w); err != nil || got != w {
		t.Errorf("%v, %v", got, err)
	}
}

// program writes a script that stands for an interpreter.
func program(t *testing.T, text string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no scripts with a first line")
	}
	file := filepath.Join(t.TempDir(), "python")
	write(t, file, "#!/bin/sh\n"+text+"\n")
	return file
}

func TestInterpretersThatCannotCompile(t *testing.T) {
	const hello = "echo kinetic-compile cpython-312 3.12 final\n"
	for name, tt := range map[string]struct {
		program  string
		patience time.Duration
		want     string
	}{
		"missing":        {"", 0, "; use CPython 3.12, or make layers without bytecode"},
		"older":          {"echo kinetic-compile cpython-311 3.11 final", 0, "it is Python 3.11, and bytecode of 3.12 is needed; use CPython 3.12"},
		"Python 2":       {"echo unknown option -I >&2; echo Try -h >&2; exit 2", 0, "it ended too early (exit status 2): Try -h; use CPython 3.12"},
		"PyPy":           {"echo kinetic-compile pypy312 3.12 final", 0, "it is not CPython: its bytecode is of pypy312"},
		"beta":           {"echo kinetic-compile cpython-312 3.12 beta", 0, "it is a test release (beta)"},
		"something else": {"echo hello", 0, "it does not respond like Python"},
		"talks for ever": {"exec cat /dev/zero", 0, "it does not respond like Python"},
		"says nothing":   {"echo no such option -I >&2; exit 3", 0, "it ended too early (exit status 3): no such option -I"},
		"fails":          {hello + "echo Traceback >&2; echo MemoryError >&2; exit 1", 0, `compile "a.py": it ended too early (exit status 1): MemoryError`},
		"fails at once":  {"exec <&-\n" + hello + "exit 4", 0, "it ended too early (exit status 4)"},
		"killed":         {hello + "kill -9 $$", 0, "it ended too early (signal: killed)"},
		"huge answer":    {hello + `printf '\377\377\377\377'; exec sleep 60`, 0, "it answers with 4294967295 bytes"},
		"half an answer": {hello + `printf '\004\000\000\000abc'`, 0, "it ended too early"},
		"hangs at once":  {"exec sleep 60", 50 * time.Millisecond, "it gave no answer for 50ms"},
		"hangs later":    {hello + "exec sleep 60", 50 * time.Millisecond, "it gave no answer for 50ms"},
		"hangs at last":  {hello + `head -c 240100 >/dev/null; head -c 32 /dev/zero; exec sleep 60`, 50 * time.Millisecond, "it gave no answer for 50ms"},
		"leaves a child": {hello + "sleep 10 & exit 1", 100 * time.Millisecond, "it "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "/does/not/exist"
			if tt.program != "" {
				path = program(t, tt.program)
			}
			// More than a pipe holds, if nothing reads it.
			w := openOf(t, modName, append(modules(), member{name: "a.py", data: strings.Repeat("x = 1\n", 40_000)})...)
			got, err := wheel.Compiler{Python: path, Patience: tt.patience}.Compile(context.Background(), w)
			unusable := new(wheel.InterpreterError)
			if !errors.As(err, &unusable) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "compile "+modName+": "+path) {
				t.Errorf("%v, err = %v\nwant %q in it", got, err, tt.want)
			}
		})
	}
}

func TestContextEndsTheInterpreter(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	path := program(t, "echo kinetic-compile cpython-312 3.12 final\n: >"+started+"\nexec sleep 60")
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		for {
			if _, err := os.Stat(started); err == nil {
				cancel(stopped)
				return
			}
			runtime.Gosched()
		}
	}()
	_, err := wheel.Compiler{Python: path}.Compile(ctx, openOf(t, modName, modules()...))
	if unusable := new(wheel.InterpreterError); !errors.Is(err, stopped) || errors.As(err, &unusable) {
		t.Errorf("err = %v, want %v", err, stopped)
	}
}

// A member that cannot be read is not the interpreter's fault.
func TestCompileOfADamagedWheel(t *testing.T) {
	interpreter, l := python(t)
	w := openIn(t, l, modName, member{name: "a.py", data: "a = 1\n"}, member{name: "b.py", data: "b = 1\n", lie: func(_ *zip.FileHeader, raw []byte) []byte { return raw[1:] }})
	_, err := wheel.Compiler{Python: interpreter}.Compile(context.Background(), w)
	if unusable := new(wheel.InterpreterError); err == nil || errors.As(err, &unusable) || !strings.Contains(err.Error(), `"b.py": it cannot be unpacked`) {
		t.Errorf("err = %v", err)
	}
}
