package requirement

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	type parts struct {
		Name     string
		Extras   []string
		Versions string
		URL      string
		Marker   string
	}
	for text, want := range map[string]parts{
		"jax":                                    {Name: "jax"},
		"  numpy >= 1.2 , < 2 ":                  {Name: "numpy", Versions: ">=1.2,<2"},
		"jax[tpu, cuda12]==0.4.1":                {Name: "jax", Extras: []string{"tpu", "cuda12"}, Versions: "==0.4.1"},
		"a[]":                                    {Name: "a"},
		"a (>=1)":                                {Name: "a", Versions: ">=1"},
		"a;python_version<'3.9'":                 {Name: "a", Marker: "python_version<'3.9'"},
		"a>=1; os_name == 'nt'":                  {Name: "a", Versions: ">=1", Marker: "os_name == 'nt'"},
		"a @ https://example.com/a.whl":          {Name: "a", URL: "https://example.com/a.whl"},
		"a[x]@ git+https://h/r@v1#egg=a":         {Name: "a", Extras: []string{"x"}, URL: "git+https://h/r@v1#egg=a"},
		"a @ https://h/a;b ; os_name == 'posix'": {Name: "a", URL: "https://h/a;b", Marker: "os_name == 'posix'"},
		"Zope.Interface_x":                       {Name: "Zope.Interface_x"},
	} {
		r, err := Parse(text)
		got := parts{r.Name, r.Extras, r.Specifiers.String(), r.URL, r.Marker.String()}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got)\n%s", text, err, diff)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		err    string
	}{
		{"", 1, "does not begin with the name"},
		{"==1", 1, "does not begin with the name"},
		{"numpy 1.2", 7, "a version needs one of"},
		{"numpy=1.2", 6, "a version needs one of"},
		{"numpy>=", 6, `"" is not a version`},
		{"numpy>=1.x", 6, `"1.x" is not a version`},
		{"numpy~=1", 6, "~=1.0"},
		{"numpy>=1.*", 6, "only == and !="},
		{"numpy[a", 8, "a comma or ]"},
		{"numpy[a b]", 9, "a comma or ]"},
		{"numpy[,]", 7, "the name of an extra"},
		{"numpy @", 8, "a URL is missing"},
		{"numpy @ https://x y", 19, "a marker begins with ;"},
		{"numpy (>=1", 11, "a closing parenthesis"},
		{"numpy; python > '3'", 7, `"python " is not a variable`},
		{"numpy; python_version", 7, "a comparison is missing"},
		{"numpy; python_version < ", 7, "ends too early"},
		{"numpy; python_version < '3", 7, "closing ' is missing"},
		{"numpy; (os_name == 'nt'", 7, "closing parenthesis"},
		{"numpy; os_name == 'nt' x", 7, `"x" is left over`},
		{"numpy; " + strings.Repeat("(", 200), 7, "nested parentheses"},
	} {
		_, err := Parse(c.text)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Column != c.column || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: got %v at %+v; want %q in column %d", c.text, err, syntax, c.err, c.column)
		}
	}
}

func TestMarkersOfLockFiles(t *testing.T) {
	e := Environment{Python: "3.12", FullPython: "3.12.1", Machine: "aarch64", Extras: []string{"GPU", "My_Extra"}, Groups: []string{"dev"}}
	for text, want := range map[string]bool{
		"'gpu' in extras":                           true,
		"'cpu' in extras":                           false,
		"'cpu' not in extras":                       true,
		"'Dev' in dependency_groups":                true,
		"extra == 'my-extra'":                       true,
		"python_full_version ~= '3.12.0'":           true,
		"python_version >= '3.9' and 'x' in extras": false,
		"platform_machine == 'aarch64'":             true,
		"":                                          true,
	} {
		m, err := ParseMarker(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := m.Holds(e); got != want || err != nil {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"extras == 'gpu'":  "only be compared with a text",
		"'gpu' == extras":  "only in and not in",
		"'gpu' in extra":   "only == and !=",
		"extra == os_name": "only be compared with a text",
		"os_name ~= 'nt'":  "not versions",
		"os_name not 'nt'": `not followed by "in"`,
	} {
		m, err := ParseMarker(text)
		if err == nil {
			_, err = m.Holds(e)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestVersions(t *testing.T) {
	ascending := []string{"1.dev0", "1a1.dev1", "1a1", "1a1.post1", "1b1", "1rc1", "1", "1+abc", "1+abc.2", "1+5", "1.post1.dev1", "1.post1", "1.0.1", "1.2", "1.10", "1!0.1"}
	for i, a := range ascending {
		for j, b := range ascending {
			v, err := ParseVersion(a)
			w, err2 := ParseVersion(b)
			if got := v.Compare(w); err != nil || err2 != nil || (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s compared with %s: %d, %v, %v", a, b, got, err, err2)
			}
		}
	}
	for _, text := range []string{"", "x", "1..2", "1.0-", "1 2", "99999999999999999999"} {
		if v, err := ParseVersion(text); err == nil {
			t.Errorf("%q was read as %v", text, v)
		}
	}
	if v, err := ParseVersion(" V1.0-1 "); err != nil || v.String() != "V1.0-1" || v.IsPrerelease() {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestPinned(t *testing.T) {
	for text, want := range map[string]string{"==1.2": "1.2", "===x": "x", "==1.*": "", ">=1": "", "==1,!=2": "", "": ""} {
		s, err := ParseSpecifiers(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Pinned(); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v", text, got, ok)
		}
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{"Jax": "jax", "libtpu_nightly": "libtpu-nightly", "Foo.-_Bar": "foo-bar", "a--b": "a-b", "ruamel.yaml.clib": "ruamel-yaml-clib"} {
		if got := Normalize(text); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"  jax>=1": "jax", "git+https://h": "git", "-r x": "", "jax-": "jax"} {
		if got := LeadingName(text); got != want {
			t.Errorf("LeadingName(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"jax[tpu]>=0.4,<1; python_version < '3.9' and (os_name == 'nt' or extra == 'x')", "a @ https://h ; 'x' in extras", "a (==1.*)", "a===x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Column < 1 || syntax.Column > len(text)+1 {
				t.Errorf("%q: %v at %+v", text, err, syntax)
			}
			return
		}
		if Normalize(r.Name) == "" {
			t.Errorf("%q has no name", text)
		}
		_, _ = r.Marker.Holds(Environment{Python: "3.12", FullPython: "3.12.0", Machine: "x86_64"})
		again, err := ParseSpecifiers(r.Specifiers.String())
		if err != nil || again.String() != r.Specifiers.String() {
			t.Errorf("%q: %v is read as %v, %v", text, r.Specifiers, again, err)
		}
	})
}
