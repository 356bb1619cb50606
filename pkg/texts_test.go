package pkg_test

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestTexts compares the texts of the product, errors, warnings, phases, help and explanations, with golden files,
// so that a reviewer reads them as one text.
func TestTexts(t *testing.T) {
	for golden, texts := range map[string]map[string][]string{
		"testdata/texts.golden":        textsOfGo(t),
		"testdata/texts-runner.golden": textsOfRunner(t),
	} {
		if got := page(texts); *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if want, err := os.ReadFile(golden); err != nil || got != string(want) {
			t.Errorf("the texts differ from pkg/%s (%v): read them, then run go test ./pkg -run TestTexts -update", golden, err)
		}
		for folder, list := range texts {
			for _, text := range list {
				if tic := ticIn(text); tic != "" {
					t.Errorf("%s: %q: say it without %q", folder, text, tic)
				}
			}
		}
	}
}

// TestComments holds comments to the words of Go's own documentation: a boolean "reports whether".
func TestComments(t *testing.T) {
	for _, root := range []string{".", "../plugins", "../hack", "../runner"} {
		walkGo(t, root, func(path string, file *ast.File) {
			for _, group := range file.Comments {
				text := strings.Join(strings.Fields(group.Text()), " ")
				if tic := ticsOfComments.FindString(text); tic != "" {
					t.Errorf("%s: %q: say it without %q", path, text, tic)
				}
			}
		})
	}
}

// tics are phrases that a native speaker would not use in a message.
var tics = regexp.MustCompile(`(?i)\b(goes on|go on|anew|mend(s|ed|ing)?|of which|of whom|say --?\w|nobody|somebody|whoever|` +
	`besides|more than nothing|in (the )?place of|exclude each other|(is|are) no [a-z]+|tells?|at all events|lets? go of|looks? after)\b`)

// ticsOfComments are phrases for which Go's documentation has a standard one, such as "reports whether".
var ticsOfComments = regexp.MustCompile(`\btells (whether|if|that)\b`)

// existence matches what is said of things that don't exist, which is not a tic.
var existence = regexp.MustCompile(`(?i)\bthere (is|are) no\b|\b(is|are) no (longer|more than)\b`)

// ticIn returns a phrase that text should not have, or "".
func ticIn(text string) string { return tics.FindString(existence.ReplaceAllString(text, "")) }

// sentence matches a literal that is text for people: two words, with a space between them.
var sentence = regexp.MustCompile(`[[:alpha:]%][^[:space:]]* [^[:space:]]*[[:alpha:]%]`)

// textsOfGo returns the texts in the Go files of the product by package. A text is a string literal of at least two
// words; literals that are joined with + are one text.
func textsOfGo(t *testing.T) map[string][]string {
	t.Helper()
	texts := map[string]map[string]bool{}
	for _, root := range []string{".", "../plugins"} {
		walkGo(t, root, func(path string, file *ast.File) {
			if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
				return
			}
			folder := filepath.ToSlash(filepath.Clean(filepath.Join("pkg", filepath.Dir(path))))
			ast.Inspect(file, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.Field: // of a struct: its tag is no text
					return node.Tag == nil
				case ast.Expr:
					text, ok := literal(node)
					if ok && sentence.MatchString(text) {
						if texts[folder] == nil {
							texts[folder] = map[string]bool{}
						}
						texts[folder][text] = true
					}
					return !ok
				}
				return true
			})
		})
	}
	lists := map[string][]string{}
	for folder, set := range texts {
		lists[folder] = slices.Sorted(maps.Keys(set))
	}
	return lists
}

// literal returns the text of a string literal, or of literals and other values that are joined with +. A value is
// written as {} there. ok is false for any other expression.
func literal(expr ast.Expr) (text string, ok bool) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if expr.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if expr.Op != token.ADD {
			return "", false
		}
		left, okLeft := literal(expr.X)
		right, okRight := literal(expr.Y)
		if !okLeft && !okRight {
			return "", false
		}
		if !okLeft {
			left = "{}"
		}
		if !okRight {
			right = "{}"
		}
		return left + right, true
	}
	return "", false
}

// textsOfRunner returns the texts in the runner's Python files by file. Docstrings are left out.
func textsOfRunner(t *testing.T) map[string][]string {
	t.Helper()
	const program = `
import ast, json, pathlib, sys

def text(node):
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "{}"
    if isinstance(node, ast.JoinedStr):
        return "".join(text(part) for part in node.values)
    return "{}"

def walk(node, texts):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring
        if isinstance(child, (ast.Constant, ast.JoinedStr)):
            texts.add(text(child))
        else:
            walk(child, texts)

found = {}
for file in pathlib.Path(sys.argv[1]).rglob("*.py"):
    texts = set()
    walk(ast.parse(file.read_text()), texts)
    found[file.as_posix()] = sorted(texts)
json.dump(found, sys.stdout)
`
	out, err := exec.Command("python3", "-c", program, "../runner/kinetic_runner").Output()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	var found map[string][]string
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{}
	for file, list := range found {
		list = slices.DeleteFunc(list, func(text string) bool { return !sentence.MatchString(text) })
		if len(list) > 0 {
			texts[strings.TrimPrefix(file, "../")] = list
		}
	}
	return texts
}

// page writes the texts below the names of their folders, with the further lines of a text indented.
func page(texts map[string][]string) string {
	var b strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(texts)) {
		b.WriteString("# " + folder + "\n\n")
		for _, text := range texts[folder] {
			b.WriteString(strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// walkGo calls visit with the syntax tree of every Go file below root.
func walkGo(t *testing.T, root string, visit func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err == nil {
			visit(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
