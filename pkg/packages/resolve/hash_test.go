//go:build !windows

package resolve_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// TestPipHashesAreCompared: of requirements, and of constraints.
func TestPipHashesAreCompared(t *testing.T) {
	t.Parallel()
	r, target := pip(t)
	s := newServer(t, map[string][]byte{"a-1-py3-none-any.whl": wheelOf(t, "a-1-py3-none-any.whl"), "b-1-py3-none-any.whl": wheelOf(t, "b-1-py3-none-any.whl")})
	for _, c := range []struct{ line, limit, hash, want string }{
		{"a==1", "", sum(s.files["a-1-py3-none-any.whl"]), ""},
		{"a==1", "", strings.Repeat("a", 64), "requirements.txt:2: a-1-py3-none-any.whl has the SHA-256"},
		{"a", "a==1", sum(s.files["a-1-py3-none-any.whl"]), ""},
		{"a", "a==1", strings.Repeat("a", 64), "limits.txt:1: a-1-py3-none-any.whl has the SHA-256"},
	} {
		if hash := " --hash=sha256:" + c.hash; c.limit == "" {
			c.line += hash
		} else {
			c.limit += hash
		}
		w := project(t, map[string]string{"requirements.txt": "--index-url " + s.URL + "/simple\n" + c.line + "\n-c limits.txt\n", "limits.txt": c.limit})
		w.Target, w.Added = target, []string{"b"} // which is not pinned
		env, err := r.Resolve(t.Context(), w)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if err == nil && len(env.Packages) != 2 {
			t.Errorf("got %v", described(env.Packages))
		}
	}
}

// TestPipNeedsAllHashes: if every line has hashes, nothing without them is installed.
func TestPipNeedsAllHashes(t *testing.T) {
	t.Parallel()
	r, target := pip(t)
	const ours = "ours-1-py3-none-any.whl"
	own := wheelOf(t, ours, "b")
	s := newServer(t, map[string][]byte{"a-1-py3-none-any.whl": wheelOf(t, "a-1-py3-none-any.whl", "b"), "b-1-py3-none-any.whl": wheelOf(t, "b-1-py3-none-any.whl")})
	hashOf := func(data []byte) string { return " --hash=sha256:" + sum(data) }
	a, b := hashOf(s.files["a-1-py3-none-any.whl"]), hashOf(s.files["b-1-py3-none-any.whl"])
	for name, c := range map[string]struct {
		lines []string
		want  string // of the error
	}{
		"a range":                 {[]string{"a>=1" + a, "b==1" + b}, `requirements.txt:2: "a>=1" has hashes but no exact version (a==VERSION)`},
		"a range for others":      {[]string{"./" + ours + hashOf(own), "b==1" + b, "a>=1 ; python_version < '3'" + a}, ""},
		"a line without":          {[]string{"a>=1" + a, "b"}, ""},
		"a URL":                   {[]string{"a @ " + s.URL + "/files/a-1-py3-none-any.whl" + a}, "requirements.txt needs b 1, but has no line with its hash"},
		"a URL, complete":         {[]string{s.URL + "/files/a-1-py3-none-any.whl" + a, "b==1" + b}, ""},
		"a URL with another hash": {[]string{s.URL + "/files/a-1-py3-none-any.whl" + b, "b==1" + b}, "requirements.txt:2: a-1-py3-none-any.whl has the SHA-256"},
		"a file":                  {[]string{"./" + ours + hashOf(own)}, "requirements.txt needs b 1, but has no line with its hash"},
		"a file, complete":        {[]string{"./" + ours + hashOf(own), "b==1" + b}, ""},
		"a file that changed":     {[]string{"./" + ours + a, "b==1" + b}, "requirements.txt:2: " + ours + " has the SHA-256"},
	} {
		w := project(t, map[string]string{"requirements.txt": "--index-url " + s.URL + "/simple\n" + strings.Join(c.lines, "\n") + "\n", ours: string(own)})
		w.Target = target
		env, err := r.Resolve(t.Context(), w)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if err != nil && !is[*resolve.MistakeError](err) {
			t.Errorf("%s: the error is a %T", name, err)
		}
		if err == nil && len(env.Packages) != 2 {
			t.Errorf("%s: got %v", name, described(env.Packages))
		}
	}
}

// TestHashesOfURLs: uv does not compare what is behind the # of a URL, so it is done afterwards.
func TestHashesOfURLs(t *testing.T) {
	t.Parallel()
	const address, other = "https://h.example/a-1-py3-none-any.whl", "a @ https://h.example/a-1-py3-none-any.whl"
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for name, c := range map[string]struct{ lines, want string }{
		"the same":                       {other + "#sha256=" + strings.ToUpper(a), ""},
		"the same, unnamed":              {address + "#egg=a&sha256=" + a, ""},
		"another":                        {other + "#sha256=" + b, "requirements.txt:1: a-1-py3-none-any.whl has the SHA-256 " + a},
		"another, unnamed":               {address + "#sha256=" + b, "requirements.txt:1: a-1-py3-none-any.whl has the SHA-256 " + a},
		"of another kind":                {other + "#sha512=" + b, "requirements.txt:1: uv does not compare the hash behind the # of a-1-py3-none-any.whl: give its SHA-256, #sha256=" + a},
		"for another system":             {"a==1\n" + other + "#sha256=" + b + " ; sys_platform == 'win32'", ""},
		"unnamed, for another system":    {"a==1\n" + address + "#sha256=" + b + " ; sys_platform == 'win32'", ""},
		"the same, as pip reads it":      {"a==1\n" + address + "#sha256=" + b + "; sys_platform == 'win32'", ""},
		"of another kind, and beside it": {other + "#sha512=" + b + " --hash=sha256:" + a + "\nc==2 --hash=sha256:" + b, ""},
		"of another kind, and another":   {other + "#sha512=" + b + " --hash=sha256:" + b, "requirements.txt:1: a-1-py3-none-any.whl has the SHA-256 " + a},
		"one without":                    {"--require-hashes\n" + other + "#sha256=" + a, "requirements.txt needs c 2, but has no line with its hash"},
		"all":                            {"--require-hashes\n" + other + "#sha256=" + a + "\nc==2 --hash=sha256:" + b, ""},
	} {
		r, _ := uv(t, `cat >"$out" <<'END'
lock-version = "1.0"
created-by = "uv"
[[packages]]
name = "a"
version = "1"
archive = { url = "`+address+`", hashes = { sha256 = "`+a+`" } }
[[packages]]
name = "c"
version = "2"
wheels = [{ url = "https://h.example/c-2-py3-none-any.whl", hashes = { sha256 = "`+b+`" } }]
END`)
		_, err := r.Resolve(t.Context(), requirements(t, c.lines))
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !is[*resolve.MistakeError](err)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
