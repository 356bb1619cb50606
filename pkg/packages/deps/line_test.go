package deps

import (
	"strings"
	"testing"
)

func TestBesidePath(t *testing.T) {
	for text, want := range map[string][2]string{
		"./ours.whl":          {"", ""},
		"./ours.whl[gpu,tpu]": {"[gpu,tpu]", ""},
		"./a[1]/ours.tar.gz ; python_version < '3'": {"", "python_version < '3'"},
		"./ours.whl [gpu]; extra == 'x'":            {"[gpu]", "extra == 'x'"},
		"ours[gpu] @ file:///p/ours.whl":            {"[gpu]", ""},
		"./me@home/ours.whl[gpu]":                   {"[gpu]", ""},
	} {
		if extras, marker := (Line{Text: text}).BesidePath(); extras != want[0] || marker != want[1] {
			t.Errorf("%s: got %q and %q, want %q", text, extras, marker, want)
		}
	}
}

func TestWithoutUsers(t *testing.T) {
	for text, want := range map[string]string{
		"x @ git+https://${TOKEN}@h.example:8443/r@v1":   "x @ git+https://h.example:8443/r@v1",
		"--index-url HTTPS://me:p@ss@h.example/simple":   "--index-url HTTPS://h.example/simple",
		"x @ git+ssh://git@h.example/r@v1":               "x @ git+ssh://git@h.example/r@v1",
		"x @ git+ssh://git:secret@h.example:22/r.git@v1": "x @ git+ssh://git@h.example:22/r.git@v1",
		"x @ https://h.example:8443/a@b/x.whl":           "x @ https://h.example:8443/a@b/x.whl",
	} {
		if got := WithoutUsers(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestSigned(t *testing.T) {
	for text, want := range map[string]bool{
		"https://h/x.whl?se=1&sig=a":                        true,
		"https://h/x.whl?X-Goog-Signature=a":                true,
		"https://h/x.whl?X-Amz-Security-Token=a":            true,
		"x @ https://h/x.whl?access_token=a#egg=x":          true,
		"https://h/x.whl?download=1#sha256=a":               false,
		"x @ git+https://h/r@v1; python_version < '3'":      false,
		"https://h/design=1/x.whl?signature-of-nothing&v=1": false,
	} {
		if got := Signed(text); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

// TestRequireHashes: as for pip, a line without a hash is refused, wherever --require-hashes stands.
func TestRequireHashes(t *testing.T) {
	for name, c := range map[string]struct{ archive, want string }{
		"a line without one": {
			"-- requirements.txt --\na==1 --hash=sha256:aa\nb==1\n--require-hashes\n",
			`requirements.txt:2: "b==1" has no --hash, which --require-hashes (requirements.txt:3) wants of every line: lock the requirements again`,
		},
		"one of another file":    {"-- requirements.txt --\n--require-hashes\n-r more.txt\n-- more.txt --\nb\n", `more.txt:1: "b" has no --hash, which --require-hashes (requirements.txt:1)`},
		"JAX":                    {"-- requirements.txt --\n--require-hashes\njax==0.4.30\n", `requirements.txt:2: "jax==0.4.30" has no --hash`},
		"a URL without one":      {"-- requirements.txt --\n--require-hashes\na @ https://h/a.whl\n", `requirements.txt:2: "a @ https://h/a.whl" has no --hash`},
		"all have one":           {"-- requirements.txt --\n--require-hashes\na==1 --hash=sha256:aa\nb @ https://h/b.whl#sha256=bb\n", ""},
		"the project's own code": {"-- requirements.txt --\n--require-hashes\n-e .\na==1 --hash=sha256:aa\n-- pyproject.toml --\n[project]\nname = 'x'\ndependencies = ['a']\n", ""},
		"constraints":            {"-- requirements.txt --\n--require-hashes\n-c c.txt\na==1 --hash=sha256:aa\n-- c.txt --\nb<2\n", ""},
	} {
		_, err := Find(at(project(t, c.archive), ""))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
