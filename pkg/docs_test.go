package pkg_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// readPages returns the documents of the product by their paths from the root.
func readPages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"../*.md", "../llms.txt", "../docs/*.md", "../docs/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pages[filepath.Clean(file[len("../"):])] = string(text)
		}
	}
	return pages
}

var (
	fenced    = regexp.MustCompile("(?ms)^```.*?^```$")
	codeBlock = regexp.MustCompile(`(?m)^( {4}|\t).*$`)
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// anchors returns what a link to a heading of the page may have after its #, as GitHub
// makes it of the heading's text.
func anchors(page string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		all = append(all, b.String())
	}
	return all
}

// TestLinksOfTheDocuments follows every link to a file or a heading of this project.
func TestLinksOfTheDocuments(t *testing.T) {
	pages := readPages(t)
	for name, page := range pages {
		text := codeBlock.ReplaceAllString(fenced.ReplaceAllString(page, ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			file := name
			if path != "" {
				file = filepath.Join(filepath.Dir(name), path)
			}
			if _, err := os.Stat(filepath.Join("..", file)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, m[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(pages[file]), anchor) {
				t.Errorf("%s: the link %s leads to no heading of %s", name, m[1], file)
			}
		}
	}
}

// TestEveryPageIsInTheContents finds a page that docs/README.md does not list.
func TestEveryPageIsInTheContents(t *testing.T) {
	pages := readPages(t)
	contents := pages[filepath.Join("docs", "README.md")]
	for name := range pages {
		path, is := strings.CutPrefix(filepath.ToSlash(name), "docs/")
		if is && path != "README.md" && !strings.Contains(contents, "]("+path+")") {
			t.Errorf("docs/README.md does not list %s", path)
		}
	}
}

var variable = regexp.MustCompile(`\bKINETIC_[A-Z_]*[A-Z]\b`)

// variablesOfCode returns the KINETIC_ variables that the product's own files name.
func variablesOfCode(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, root := range []string{"../pkg", "../plugins", "../manifests", "../runner/kinetic", "../runner/kinetic_runner"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			isCode := slices.Contains([]string{".go", ".py", ".json", ".yaml"}, filepath.Ext(path))
			if d.IsDir() || !isCode || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			for _, name := range variable.FindAllString(string(text), -1) {
				found[name] = path
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestVariablesPage compares docs/variables.md with the code.
func TestVariablesPage(t *testing.T) {
	page, err := os.ReadFile("../docs/variables.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if cell, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ := strings.Cut(cell, "`")
			if variable.MatchString(name) {
				rows[name] = true
			}
		}
	}
	code := variablesOfCode(t)
	for name, path := range code {
		if !rows[name] {
			t.Errorf("docs/variables.md has no row for %s, which is in %s", name, path)
		}
	}
	for name := range rows {
		if code[name] == "" {
			t.Errorf("docs/variables.md has a row for %s, which no code names", name)
		}
	}
}

// TestMessagesOfTroubleshooting finds a message in docs/troubleshooting.md that the code
// no longer has: each part of it between the ellipses must be in a source file or in what
// the tests expect of them.
func TestMessagesOfTroubleshooting(t *testing.T) {
	page, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, root := range []string{"../pkg", "../runner/kinetic_runner"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			code.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	known := strings.ReplaceAll(code.String(), `\"`, `"`)
	sections := strings.Split(string(page), "\n## ")
	for line := range strings.Lines(strings.Join(sections[1:], "\n")) {
		cell, ok := strings.CutPrefix(line, "| `")
		if !ok {
			continue
		}
		message, _, _ := strings.Cut(cell, "`")
		for part := range strings.SplitSeq(message, "…") {
			if part = strings.Trim(part, " "); len(part) > 3 && !strings.Contains(known, part) {
				t.Errorf("the message %q: no code has %q", message, part)
			}
		}
	}
}
