package decide

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

// TestNames tests what changes the name of an image, and what does not.
func TestNames(t *testing.T) {
	name := func(files map[string]string, change ...func(*Input)) string {
		t.Helper()
		in := input(t, files)
		for _, c := range change {
			c(&in)
		}
		p, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		return p.Image
	}
	tpu := func(i *Input) { i.Accelerator.Kind = api.TPU }
	first := name(requirements("six>=1\nattrs\n"))
	if !regexp.MustCompile(`^` + repository + `:r-[0-9a-f]{40}$`).MatchString(first) {
		t.Errorf("name %s", first)
	}
	same := map[string]string{
		"order":          name(requirements("attrs\nsix>=1\n")),
		"comments":       name(requirements("# what\nattrs # why\n\n\nsix>=1\n")),
		"twice":          name(requirements("attrs\nattrs\nsix>=1\n")),
		"pyproject.toml": name(map[string]string{"pyproject.toml": "[project]\nname = \"p\"\ndependencies = [\"six>=1\", \"attrs\"]\n"}),
	}
	for what, got := range same {
		if got != first {
			t.Errorf("%s changes the name from %s to %s", what, first, got)
		}
	}
	if a, b := name(requirements("flax\njax==0.3\n"), tpu), name(requirements("flax\njax==0.4\n"), tpu); a != b {
		t.Errorf("what is dropped changes the name from %s to %s", a, b)
	}
	index := "--index-url https://%sindex.example/simple\nsix\n"
	if a, b := name(requirements(strings.ReplaceAll(index, "%s", "me:secret@"))), name(requirements(strings.ReplaceAll(index, "%s", "you:other@"))); a != b {
		t.Errorf("credentials change the name from %s to %s", a, b)
	}
	names := map[string]string{first: "the first"}
	for what, got := range map[string]string{
		"a version":        name(requirements("six>=2\nattrs\n")),
		"an index":         name(requirements("six>=1\nattrs\n--index-url https://index.example/simple\n")),
		"the index's path": name(requirements("six>=1\nattrs\n--index-url https://index.example/other\n")),
		"a constraint":     name(map[string]string{"requirements.txt": "six>=1\nattrs\n-c c.txt\n", "c.txt": "six<2\n"}),
		"Python":           name(requirements("six>=1\nattrs\n"), func(i *Input) { i.Images.Python = "3.11" }),
		"the architecture": name(requirements("six>=1\nattrs\n"), func(i *Input) { i.Accelerator.Arch = "arm64" }),
		"the base":         name(requirements("six>=1\nattrs\n"), func(i *Input) { i.BaseImage = "me/base:1" }),
		"the accelerator":  name(requirements("six>=1\nattrs\n"), tpu),
		"what is kept":     name(requirements("six>=1\nattrs\njax==0.3 # kn:keep\n")),
	} {
		if other, twice := names[got]; twice {
			t.Errorf("%s and %s give the same name %s", what, other, got)
		}
		names[got] = what
	}
}

// TestSteeredNames: what steers a resolver on this machine gives another name, but not to what a lock has.
func TestSteeredNames(t *testing.T) {
	steered := func(in *Input) { in.Steering = []string{"PIP_INDEX_URL=https://test.example/simple"} }
	for name, tt := range map[string]struct {
		files  map[string]string
		differ bool
	}{
		"requirements": {requirements("six>=1\n"), true},
		"a lock":       {map[string]string{"pylock.toml": "lock-version = \"1.0\"\n[[packages]]\nname = \"six\"\nversion = \"1\"\nwheels = [{name = \"six-1-py3-none-any.whl\", url = \"https://h/six-1-py3-none-any.whl\", hashes = {sha256 = \"" + strings.Repeat("a", 64) + "\"}}]\n"}, false},
	} {
		in := input(t, tt.files)
		plain, err := New(in)
		if err != nil {
			t.Fatal(name, err)
		}
		steered(&in)
		other, err := New(in)
		if err != nil || (plain.Tag != other.Tag) != tt.differ {
			t.Errorf("%s: %s and %s, want other names: %v; %v", name, plain.Tag, other.Tag, tt.differ, err)
		}
	}
}

// TestNamesOfFiles: a file's content decides, not its place.
func TestNamesOfFiles(t *testing.T) {
	name := func(content string) string {
		p, err := New(input(t, map[string]string{"requirements.txt": "./x-1-py3-none-any.whl\n", "x-1-py3-none-any.whl": content}))
		if err != nil {
			t.Fatal(err)
		}
		return p.Tag
	}
	if a, b := name("1"), name("1"); a != b {
		t.Errorf("the same file in another directory changes the name from %s to %s", a, b)
	}
	if a, b := name("1"), name("2"); a == b {
		t.Errorf("another file gives the same name %s", a)
	}
}

// TestNamesOfWishesForFiles: what is wanted of a file is in the name, too.
func TestNamesOfWishesForFiles(t *testing.T) {
	name := func(text string) string {
		p, err := New(input(t, map[string]string{"requirements.txt": text + "\n", "x-1-py3-none-any.whl": "zip"}))
		if err != nil {
			t.Fatal(err)
		}
		return p.Tag
	}
	names := map[string]string{}
	for _, text := range []string{
		"./x-1-py3-none-any.whl", "./x-1-py3-none-any.whl[gpu]", "./x-1-py3-none-any.whl[tpu]", "x[gpu] @ ./x-1-py3-none-any.whl",
		"./x-1-py3-none-any.whl ; python_version < '3'", "./x-1-py3-none-any.whl[gpu]; python_version < '3'",
		"./x-1-py3-none-any.whl --hash=sha256:" + strings.Repeat("a", 64),
	} {
		got := name(text)
		if other, twice := names[got]; twice {
			t.Errorf("%s and %s give the same name %s", text, other, got)
		}
		names[got] = text
	}
	if a, b := name("./x-1-py3-none-any.whl; python_version<'3'"), name("./x-1-py3-none-any.whl ;  python_version < '3'"); a != b {
		t.Errorf("blanks change the name from %s to %s", a, b)
	}
}

// TestNamesOfLinks: the packages in a directory of links are in the name, wherever it is.
func TestNamesOfLinks(t *testing.T) {
	const ours = "ours-1-py3-none-any.whl"
	name := func(links string, files ...string) string {
		t.Helper()
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "wheels", "more"), 0o700); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(files); i += 2 {
			if err := os.WriteFile(filepath.Join(root, "wheels", files[i]), []byte(files[i+1]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text := "--find-links " + strings.Replace(links, "ROOT", root, 1) + "\nours\n"
		if err := os.WriteFile(filepath.Join(root, "requirements.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := deps.Find(deps.Options{Root: root, EntryDir: root, Cwd: root, Home: root})
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(Input{Wanted: w, Root: root, Repository: repository, Python: "3.12"})
		if err != nil {
			t.Fatal(err)
		}
		return p.Tag
	}
	first := name("wheels", ours, "a", "other.tar.gz", "b")
	for what, got := range map[string]string{
		"the order":         name("wheels", "other.tar.gz", "b", ours, "a"),
		"another directory": name("ROOT/wheels", ours, "a", "other.tar.gz", "b"),
		"a URL":             name("file://ROOT/wheels", ours, "a", "other.tar.gz", "b"),
		"other files":       name("wheels", ours, "a", "other.tar.gz", "b", "notes.txt", "c", "more/"+ours, "d"),
	} {
		if got != first {
			t.Errorf("%s changes the name from %s to %s", what, first, got)
		}
	}
	names := map[string]string{first: "the first"}
	for what, got := range map[string]string{
		"another content": name("wheels", ours, "A", "other.tar.gz", "b"),
		"another name":    name("wheels", "ours-2-py3-none-any.whl", "a", "other.tar.gz", "b"),
		"one file less":   name("wheels", ours, "a"),
		"a page":          name("wheels", ours, "a", "other.tar.gz", "b", "index.html", "c"),
		"no files":        name("wheels"),
		"a page of links": name("wheels/index.html", "index.html", "a"),
		"another page":    name("wheels/index.html", "index.html", "b"),
	} {
		if other, twice := names[got]; twice {
			t.Errorf("%s and %s give the same name %s", what, other, got)
		}
		names[got] = what
	}
}

const pylock = `lock-version = "1.0"
[[packages]]
name = "six"
version = "1"
wheels = [{url = "https://x.example/six-1-py3-none-any.whl", hashes = {sha256 = "HASH"}}]
`

// TestNamesOfLocks: the wheels decide, not the text of the lock.
func TestNamesOfLocks(t *testing.T) {
	name := func(text string, change ...func(*Input)) string {
		t.Helper()
		in := input(t, map[string]string{"pylock.toml": text})
		for _, c := range change {
			c(&in)
		}
		p, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		return p.Tag
	}
	lock := func(digit string) string { return strings.Replace(pylock, "HASH", strings.Repeat(digit, 64), 1) }
	first := name(lock("a"))
	if !regexp.MustCompile(`^e-[0-9a-f]{40}$`).MatchString(first) {
		t.Errorf("tag %s", first)
	}
	if got := name("# a comment\n" + lock("a")); got != first {
		t.Errorf("a comment changes the tag to %s", got)
	}
	if got := name(lock("b")); got == first {
		t.Errorf("another wheel gives the same tag %s", got)
	}
	other := func(i *Input) { i.BaseImage = "me/base:1" }
	if got := name(lock("a"), other); got == first || !strings.HasPrefix(got, "e-") {
		t.Errorf("tag %s with a base that isn't in the table", got)
	}
	sdist := strings.Replace(lock("a"), "wheels = [", `sdist = {url = "https://x.example/six-1.tar.gz", hashes = {sha256 = "`+strings.Repeat("c", 64)+`"}} # wheels = [`, 1)
	if got := name(sdist); got == first || !strings.HasPrefix(got, "e-") {
		t.Errorf("tag %s of a lock without a wheel", got)
	}
	if _, err := New(input(t, map[string]string{"pylock.toml": "lock-version = \"2.0\"\n[[packages]]\nname = \"six\"\n"})); err == nil {
		t.Error("a lock of another version was read")
	}
}

const uvLock = `version = 1
[[package]]
name = "app"
source = { virtual = "." }
dependencies = [{ name = "six" }]
[[package]]
name = "six"
version = "1"
source = { registry = "https://x.example/simple" }
wheels = [{ url = "https://x.example/six-1-py3-none-any.whl", hash = "sha256:HASH" }]
`

// TestLocksAlone: what a lock has is installed, even if no requirement is beside it.
func TestLocksAlone(t *testing.T) {
	full := strings.Replace(uvLock, "HASH", strings.Repeat("a", 64), 1)
	none := "version = 1\n[[package]]\nname = \"app\"\nsource = { virtual = \".\" }\n"
	own := func(i *Input) { i.BaseImage = "me/base:1" }
	for name, c := range map[string]struct {
		files  map[string]string
		change func(*Input)
		empty  bool
	}{
		"uv.lock":                            {files: map[string]string{"uv.lock": full}},
		"uv.lock on a base that is not ours": {files: map[string]string{"uv.lock": full}, change: own},
		"dependencies that setup.py has":     {files: map[string]string{"uv.lock": full, "pyproject.toml": "[project]\nname = \"app\"\ndynamic = [\"dependencies\"]\n"}},
		"a project without dependencies":     {files: map[string]string{"uv.lock": none}, empty: true},
		"pylock.toml without packages":       {files: map[string]string{"pylock.toml": "lock-version = \"1.0\"\n"}, empty: true},
		"a lock that is not wanted":          {files: map[string]string{"uv.lock": full}, change: func(i *Input) { i.NoDeps = true }, empty: true},
	} {
		in := input(t, c.files)
		if _, ok := c.files["uv.lock"]; ok { // named, because without pyproject.toml it is not looked for
			var err error
			if in.Wanted, err = deps.Find(deps.Options{File: filepath.Join(in.Root, "uv.lock"), Root: in.Root, EntryDir: in.Root, Cwd: in.Root, Home: in.Root}); err != nil {
				t.Fatal(err)
			}
		}
		if c.change != nil {
			c.change(&in)
		}
		p, err := New(in)
		if err != nil || p.Empty() != c.empty || strings.HasPrefix(p.Image, repository+":e-") == c.empty {
			t.Errorf("%s: empty is %v, the image %s; %v", name, p.Empty(), p.Image, err)
		}
	}
}

// TestLinksOfALock: uv.lock has no hashes of wheels in a directory of links, so their content counts.
func TestLinksOfALock(t *testing.T) {
	for name, base := range map[string]string{"a base of the table": "", "a base of one's own": "me/base:1"} {
		in := input(t, map[string]string{
			"pyproject.toml": "[project]\nname = \"app\"\ndependencies = [\"x\"]\n", "x-1-py3-none-any.whl": "first",
			"uv.lock": "version = 1\n[[package]]\nname = \"app\"\nsource = { virtual = \".\" }\ndependencies = [{ name = \"x\" }]\n" +
				"[[package]]\nname = \"x\"\nversion = \"1\"\nsource = { registry = \".\" }\nwheels = [{ path = \"x-1-py3-none-any.whl\" }]\n",
		})
		in.BaseImage = base
		first, err := New(in)
		if err != nil {
			t.Fatal(name, err)
		}
		wheel := filepath.Join(in.Root, "x-1-py3-none-any.whl")
		if err := os.WriteFile(wheel, []byte("second"), 0o600); err != nil {
			t.Fatal(err)
		}
		second, err := New(in)
		if err != nil || first.Image == second.Image || first.Key == second.Key {
			t.Errorf("%s: both are called %s, %v", name, first.Image, err)
		}
		if base == "" && (len(second.Locked) != 1 || second.Locked[0].SHA256 == "" || second.Locked[0].Path != wheel) {
			t.Errorf("%s: %+v", name, second.Locked)
		}
		if err := os.Remove(wheel); err != nil {
			t.Fatal(err)
		}
		if _, err := New(in); (err == nil) != (base != "") { // what an own base needs is found out later
			t.Errorf("%s, without the wheel: %v", name, err)
		}
	}
}

// TestNamesWithURLs: the lines of a file that a URL names are part of the name, and while they are not known, the URL is.
func TestNamesWithURLs(t *testing.T) {
	key := func(url string, texts map[string][]byte) string {
		t.Helper()
		in := input(t, requirements("six\n-c "+url+"\n"))
		var err error
		if in.Wanted, err = deps.Find(deps.Options{Root: in.Root, EntryDir: in.Root, Cwd: in.Root, Home: in.Root, Texts: texts}); err != nil {
			t.Fatal(err)
		}
		p, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		return p.Key
	}
	text := func(url, lines string) string { return key(url, map[string][]byte{url: []byte(lines)}) }
	const a, b = "https://h/a", "https://h/b"
	if text(a, "six<2\nx\n") != text(b, "# the same\nx\nsix<2\n") || text(a, "six<2\n") == text(a, "six<3\n") {
		t.Error("the name has something else than the lines")
	}
	if key(a, nil) == key(b, nil) || key(a, nil) == text(a, "") || key(a, nil) != key("https://me:secret@h/a", nil) {
		t.Error("the name has something else than the URL")
	}
}
