package pack_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// ruleCases are ignore files, and for each some paths: those marked "-" are
// ignored, those marked "+" are not. A trailing "/" is a directory.
var ruleCases = map[string]struct{ rules, paths string }{
	"a name, at any depth":       {"build", "-build -build/ -a/build -a/b/build/ +builds +rebuild +Build"},
	"a directory":                {"build/", "+build -build/ +a/build -a/build/"},
	"an extension":               {"*.ckpt", "-a.ckpt -a/b/c.ckpt -.ckpt +a.ckpt2"},
	"anchored by its beginning":  {"/build", "-build -build/ +a/build"},
	"anchored by its middle":     {"docs/_build", "-docs/_build +a/docs/_build +docs/a/_build +_build"},
	"a star does not cross":      {"data/*.csv", "-data/a.csv +data/b/a.csv -data/.csv +x/data/a.csv"},
	"a question mark does not":   {"a?b", "-axb -d/axb +ab +a/b"},
	"all that is in a directory": {"data/*", "-data/a -data/b/ -data/b/c +data/ +data"},
	"whatever is below":          {"data/**", "-data/a -data/b/c +data/ +data +x/data/a"},
	"any depth, spelled out":     {"**/x", "-x -a/x -a/b/x +ax"},
	"any depth between":          {"a/**/b", "-a/b -a/x/b -a/x/y/b +ab +x/a/b +a/xb"},
	"two in a row":               {"a/**/**/b", "-a/b -a/x/b -a/x/y/b"},
	"several":                    {"**/a/**/b/**", "-a/b/c -x/a/y/b/z -a/b/b/c +a/b +b/a/c +a/x/c"},
	"back to the last only":      {"**/a/b/c", "-a/b/c -a/b/a/b/c -a/a/b/c +a/b/b/c"},
	"everything":                 {"*", "-a -a/b -d/"},
	"everything, twice":          {"**", "-a -a/b -d/"},
	"stars inside a name":        {"a**b", "-ab -axxb +a/b"},
	"negation":                   {"*.log\n!keep.log", "-a.log +keep.log -d/a.log +d/keep.log"},
	"the last match counts":      {"!a\na", "-a"},
	"negation below an ignored directory does nothing": {"data/\n!data/keep", "-data/ -data/keep"},
	"negation below ignored contents":                  {"data/*\n!data/keep", "+data/ +data/keep -data/a"},
	"the whitelist idiom":                              {"*\n!*/\n!*.py", "+a.py +d/ +d/a.py -a.txt -d/a.txt"},
	"comments and empty lines":                         {"# a\n\n   \n#b\na#c", "+# +#b -a#c +a"},
	"escaped":                                          {"\\#a\n\\!b\n\\*", "-#a -!b -* +x +\\!b"},
	"trailing space and carriage returns":              {"a \t\r\nb\\ \r\n", "-a -b\\s +b"},
	"an escaped backslash before a space":              {"a\\\\ \n", "-a\\b +a"},
	"a class":                                          {"[ab]x\n[0-9]", "-ax -bx +cx -5 +55"},
	"a class, negated":                                 {"[!ab]x\n[^0-9]y", "+ax -cx +5y -zy"},
	"brackets and dashes in a class":                   {"[]a]1\n[!]a]2\n[a-]3\n[-a]4", "-]1 -a1 +b1 +]2 -b2 -a3 --3 +b3 --4 -a4"},
	"an escape in a class":                             {"[\\]]x\n[a\\-c]y", "-]x +\\x -ay --y -cy +by"},
	"a bracket in a class":                             {"[[]", "-[ +]"},
	"other alphabets":                                  {"é*\n[à-ü].txt\na?b", "-été -ô.txt +e.txt -aüb"},
	"slashes alone":                                    {"/\n//\n!\n!/", "+a +a/"},
	"many slashes at the end":                          {"a//", "-a/ +a"},
	"a byte order mark":                                {"\ufeffa", "-a +b"},
	"a lone closing bracket":                           {"a]", "-a] +a"},
}

// ignored asks from the top down, as a walk does.
func ignored(rules pack.Rules, p string) bool {
	isDir := strings.HasSuffix(p, "/")
	p = strings.TrimSuffix(p, "/")
	for i := range p {
		if p[i] == '/' && rules.Ignored(p[:i], true) {
			return true
		}
	}
	return rules.Ignored(p, isDir)
}

// casePath decodes a path of ruleCases; "\s" is a space and "\b" a backslash.
func casePath(text string) string {
	return strings.NewReplacer(`\s`, " ", `\b`, `\`).Replace(text)
}

func TestRules(t *testing.T) {
	for name, test := range ruleCases {
		t.Run(name, func(t *testing.T) {
			rules, err := pack.ParseRules([]byte(test.rules))
			if err != nil {
				t.Fatal(err)
			}
			for _, marked := range strings.Fields(test.paths) {
				p := casePath(marked[1:])
				if got, want := ignored(rules, p), marked[0] == '-'; got != want {
					t.Errorf("rules %q, path %q: ignored %v, want %v", test.rules, p, got, want)
				}
			}
		})
	}
}

// The cases above say what git says.
func TestRulesAgreeWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	// Git keeps carriage returns, takes a character for its bytes, and matches
	// nothing where two slashes end a pattern.
	ours := map[string]bool{"trailing space and carriage returns": true, "other alphabets": true, "many slashes at the end": true}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for name, test := range ruleCases {
		if ours[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
				t.Fatalf("git init: %v: %s", err, out)
			}
			if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(test.rules), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, marked := range strings.Fields(test.paths) {
				p := casePath(marked[1:])
				makePath(t, dir, p)
				cmd := exec.Command(git, "check-ignore", "-q", "--no-index", "--", "./"+strings.TrimSuffix(p, "/"))
				cmd.Dir = dir
				err := cmd.Run()
				if code := cmd.ProcessState.ExitCode(); code > 1 {
					t.Fatalf("git check-ignore %q: %v", p, err)
				}
				if got, want := err == nil, marked[0] == '-'; got != want {
					t.Errorf("rules %q, path %q: git ignores it: %v, the table says %v", test.rules, p, got, want)
				}
			}
		})
	}
}

// makePath makes a path and nothing else beside .git and .gitignore.
func makePath(t *testing.T, dir, p string) {
	t.Helper()
	top, _, _ := strings.Cut(p, "/")
	if err := os.RemoveAll(filepath.Join(dir, top)); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, p)
}

func TestBadRules(t *testing.T) {
	for text, want := range map[string]string{
		"ok\n[abc":        `line 2: pattern "[abc": "[" without "]": write \[ to match a bracket`,
		"a[":              `"[" without "]"`,
		"[]":              `"[" without "]"`,
		"[!":              `"[" without "]"`,
		"[a-":             `"[" without "]"`,
		"x/a[b/c]":        `"[" without "]"`,
		"a\\":             `line 1: pattern "a\\": ends with a backslash`,
		"[[:alpha:]]":     "classes like [[:alpha:]] are not supported",
		"[a\xff]":         "not UTF-8",
		"\n\n!docs/[z-a]": "line 3",
	} {
		_, err := pack.ParseRules([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRules(%q): error %v, want %q", text, err, want)
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, test := range ruleCases {
		for _, p := range strings.Fields(test.paths) {
			f.Add(test.rules, casePath(p[1:]))
		}
	}
	f.Fuzz(func(t *testing.T, text, p string) {
		rules, err := pack.ParseRules([]byte(text))
		if err != nil {
			return
		}
		got := rules.Ignored(p, true)
		// A last rule that matches everything decides, one way or the other.
		for last, want := range map[string]bool{"\n**": true, "\n!**": false} {
			rules, err := pack.ParseRules([]byte(text + last))
			if err != nil {
				t.Fatalf("ParseRules(%q) with %q: %v", text, last, err)
			}
			if rules.Ignored(p, true) != want {
				t.Errorf("rules %q with %q: %q ignored %v", text, last, p, !want)
			}
		}
		// A comment in front changes nothing.
		if again, err := pack.ParseRules([]byte("# x\n" + strings.TrimPrefix(text, "\ufeff"))); err != nil || again.Ignored(p, true) != got {
			t.Errorf("rules %q below a comment: %v, %v; want %v", text, again.Ignored(p, true), err, got)
		}
	})
}
