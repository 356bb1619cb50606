package runner

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// maxZip leaves room in the annotation of 262,144 bytes in which a client-side
// `kubectl apply` keeps the whole ConfigMap: base64 adds a third.
const maxZip = 181 << 10

func TestZipFitsIntoAConfigMap(t *testing.T) {
	t.Logf("%d bytes", len(Zip()))
	if len(Zip()) > maxZip {
		t.Errorf("the zip has %d bytes, more than %d", len(Zip()), maxZip)
	}
}

func TestSHA256IsOfTheZip(t *testing.T) {
	for _, program := range []struct {
		zip    []byte
		sha256 string
	}{{Zip(), SHA256()}, {WarmZip(), WarmSHA256()}} {
		sum := sha256.Sum256(program.zip)
		if want := hex.EncodeToString(sum[:]); program.sha256 != want {
			t.Errorf("got %s, want %s", program.sha256, want)
		}
	}
}

// TestReadyZip fails if the zip that a build has left here is not the one that this code makes.
func TestReadyZip(t *testing.T) {
	path, content := Ready()
	if !bytes.Equal(Zip(), content) {
		t.Error("the zip in ready/ is an old one: run make build")
	}
	if got := jobs(fstest.MapFS{path: {Data: []byte("made before")}}); string(got.zip) != "made before" {
		t.Errorf("%s is not used", path)
	}
}

// TestZipHasEverySource finds a new folder that no pattern of Sources matches.
func TestZipHasEverySource(t *testing.T) {
	checkSources(t, WarmZip(), "")
	checkSources(t, Zip(), warmFolder)
}

// checkSources compares a program with the files of this folder, except for those of one folder.
func checkSources(t *testing.T, program []byte, without string) {
	t.Helper()
	want := map[string]string{}
	for _, root := range []string{mainFile, "sitecustomize.py", "kinetic_runner", "kinetic"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (filepath.ToSlash(path) == "kinetic/client" || filepath.ToSlash(path) == without || d.Name() == "__pycache__"):
				return fs.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".py" && filepath.Ext(path) != ".json":
				return nil
			}
			source, err := os.ReadFile(path)
			want[filepath.ToSlash(path)] = string(shorten(filepath.ToSlash(path), source))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	archive, err := zip.NewReader(bytes.NewReader(program), int64(len(program)))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	var names []string
	for _, entry := range archive.File {
		got[entry.Name] = content(t, entry)
		names = append(names, entry.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the zip -want +got:\n%s", diff)
	}
	if !strings.HasPrefix(got[mainFile], notice) {
		t.Errorf("%s has lost its notice: %.100q", mainFile, got[mainFile])
	}
	if !slices.IsSorted(names) {
		t.Errorf("the entries are not sorted: %q", names)
	}
}

func content(t *testing.T, entry *zip.File) string {
	t.Helper()
	r, err := entry.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestZipDependsOnNamesAndContentsAlone: times and modes, which differ between
// checkouts, leave no trace. The hash holds the bytes themselves: it changes
// with the version of the compressor, and then it may.
func TestZipDependsOnNamesAndContentsAlone(t *testing.T) {
	text := []byte(strings.Repeat("print('hello')\n", 100))
	one := fstest.MapFS{
		"__main__.py": {Data: text},
		"p/sub/m.py":  {Data: []byte("x = 1\n")},
	}
	other := fstest.MapFS{
		"p/sub/m.py":  {Data: []byte("x = 1\n"), Mode: 0o600, ModTime: time.Unix(1e9, 0)},
		"__main__.py": {Data: text, Mode: 0o755, ModTime: time.Unix(1e9, 0)},
	}
	a, errA := zipOf(one, "")
	b, errB := zipOf(other, "")
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Fatalf("two zips of the same sources differ (%v, %v)", errA, errB)
	}
	sum := sha256.Sum256(a)
	if got, want := hex.EncodeToString(sum[:]), "e08906b47de546c06b9f0b3cc098222f7e72215dadebf539077f3002f78fd4fe"; got != want {
		t.Errorf("SHA-256 %s, want %s", got, want)
	}
}

// TestShortenedSourcesAreTheSameProgram compares the syntax trees, with line numbers, without docstrings. One that is the whole body
// is empty.
func TestShortenedSourcesAreTheSameProgram(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on PATH")
	}
	path := filepath.Join(t.TempDir(), File)
	if err := os.WriteFile(path, Zip(), 0o600); err != nil {
		t.Fatal(err)
	}
	const compare = `
import ast, sys, zipfile
def tree(source):
    found = ast.parse(source)
    for node in ast.walk(found):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            if len(node.body) == 1:
                node.body[0].value.value = ""
            else:
                del node.body[0]
    return ast.dump(found), [(type(node).__name__, node.lineno) for node in ast.walk(found) if hasattr(node, "lineno")]
with zipfile.ZipFile(sys.argv[1]) as archive:
    for name in filter(lambda name: name.endswith(".py"), archive.namelist()):
        if tree(open(name, encoding="utf-8").read()) != tree(archive.read(name).decode()):
            sys.exit(f"{name} is another program in the zip")
`
	if out, err := exec.Command(python, "-c", compare, path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestCommentsAtTheEndsOfLinesGo(t *testing.T) {
	for source, want := range map[string]string{
		"x = 1  # one\n":                                      "x=1\n",
		"x = 1  # one  # and two\n":                           "x=1  # one\n",
		"x = \"a  # b\"\n":                                    "x=\"a  # b\"\n",
		"x = 1  # it's cut\n":                                 "x=1\n",
		"f(\"a\")  # \"cut\" too\n":                           "f(\"a\")\n",
		"f('a')  # it's kept\n":                               "f('a')# it's kept\n",
		"x = \"it  # isn't one\"\n":                           "x=\"it  # isn't one\"\n",
		"x = \"a  # b\"  # cut\n":                             "x=\"a  # b\"\n",
		"x = \"\"\"\na  # b\n\"\"\"\n":                        "x = \"\"\"\na  # b\n\"\"\"\n",
		"x = 1  # the last line":                              "x=1\n",
		"if a and b * -1: return -1\n":                        "if a and b*-1:return-1\n",
		"f('a , b' , \"it's = \\\" = \") if x [1] else (y)\n": "f('a , b',\"it's = \\\" = \")if x[1]else(y)\n",
	} {
		if got := string(shorten("m.py", []byte(source))); got != want {
			t.Errorf("%q became %q, want %q", source, got, want)
		}
	}
}

func TestPythonRunsTheZip(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on PATH")
	}
	path := filepath.Join(t.TempDir(), File)
	if err := os.WriteFile(path, Zip(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-u", path, "--help").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("usage")) {
		t.Errorf("--help: %v\n%s", err, out)
	}
}

// TestMissingModule runs the zip in a Python that can't import what zipimport needs.
func TestMissingModule(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here")
	}
	path := filepath.Join(t.TempDir(), File)
	if err := os.WriteFile(path, Zip(), 0o600); err != nil {
		t.Fatal(err)
	}
	script := "import runpy, sys; sys.modules['zlib'] = None; sys.argv = ['" + path + "']; runpy.run_path('" + path + "', run_name='__main__')"
	out, err := exec.Command(python, "-c", script).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "kinetic: this python3 (") || !strings.Contains(string(out), "use another image") {
		t.Errorf("got %v and %q, want a sentence", err, out)
	}
}
