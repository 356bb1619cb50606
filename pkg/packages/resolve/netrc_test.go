package resolve_test

import (
	"encoding/json"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// TestNetrcOfPython: Python's own module reads what Netrc writes.
func TestNetrcOfPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	if err := exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run(); err != nil {
		t.Skip("python3 is older than 3.11")
	}
	logins := map[string][2]string{
		"plain.example": {"me", "secret"}, "blank.example": {"a user", "a\tpass  word"}, "quote.example": {`"me"`, `a"b"`},
		"slash.example": {`dom\me`, `\"\\ `}, "token.example": {"TOKEN", ""}, "nobody.example": {"", "secret"},
		"hash.example": {"#me", "#x"}, "word.example": {"machine", "default"}, "letters.example": {"mé", "päß"},
	}
	var lines []string
	for host, login := range logins {
		user := url.UserPassword(login[0], login[1])
		if login[1] == "" {
			user = url.User(login[0])
		}
		u := url.URL{Scheme: "https", User: user, Host: host, Path: "/simple"}
		lines = append(lines, "--extra-index-url "+u.String())
	}
	text, _, err := without(t).Netrc(t.Context(), requirements(t, append(lines, "a")...), nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "netrc")
	write(t, file, text, 0o600)
	out, err := exec.Command(python, "-X", "utf8", "-I", "-c", `import json, netrc, sys
print(json.dumps({host: [login, password] for host, (login, _, password) in netrc.netrc(sys.argv[1]).hosts.items()}))`, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%s", out, text)
	}
	got := map[string][2]string{}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(logins, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, text)
	}
	ours := map[string][2]string{}
	for host := range logins {
		login, password, _ := resolve.NetrcLogins(text)(host)
		ours[host] = [2]string{login, password}
	}
	if diff := cmp.Diff(logins, ours); diff != "" {
		t.Errorf("as it is read here: (-want +got)\n%s\n%s", diff, text)
	}
}

// TestNetrcOfOldPython: before Python 3.11, a line has a password, no quotes and no escapes.
func TestNetrcOfOldPython(t *testing.T) {
	t.Parallel()
	for login, c := range map[string]struct{ python, want, err string }{
		"me:secret":     {"3.10", "machine h login me password secret\n", ""},
		"me:a%5C%22b":   {"3.10", "machine h login me password a\\\"b\n", ""},
		"TOKEN":         {"3.9", "", "the credentials for h have no password, and pip of Python 3.9 needs one"},
		"TOKEN:":        {"3.11", "machine h login TOKEN password \"\"\n", ""},
		"me:a%20b":      {"3.10", "", "pip for Python 3.10 can't read a password with whitespace"},
		"m%C3%A9:b":     {"3.10", "", "pip for Python 3.10 can't read a login with whitespace or non-ASCII characters"},
		"me:a%0Ab":      {"3.12", "", "the credentials for h: the password has a line break"},
		"me%0D:secret2": {"3.10", "", "the credentials for h: the login has a line break"},
	} {
		w := requirements(t, "--index-url https://"+login+"@h/simple", "a")
		w.Target.Python = c.python
		got, _, err := without(t).Netrc(t.Context(), w, nil)
		if got != c.want || (err != nil) != (c.err != "") || err != nil && (!strings.Contains(err.Error(), c.err) || !is[*resolve.MistakeError](err)) {
			t.Errorf("%s on Python %s: %q, %v; want %q, %q", login, c.python, got, err, c.want, c.err)
		}
	}
}
