package deps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// variable is the form of a variable in requirements files.
const variable = `\$\{[A-Z0-9_]+\}`

// Variable returns the first variable in a line of a requirements file, "" if it has none.
func Variable(text string) string { return lazyregexp.Of(variable).FindString(text) }

// Expand replaces the variables in a line of a requirements file, as pip and uv do.
func Expand(text string, getenv func(name string) string) (string, error) {
	var missing error
	text = lazyregexp.Of(variable).ReplaceAllStringFunc(text, func(found string) string {
		name := found[2 : len(found)-1]
		value := getenv(name)
		if value == "" {
			missing = fmt.Errorf("the variable %s is not set: export it first", name)
		}
		return value
	})
	return text, missing
}

// Values returns the values of the variables in a text, by their ${NAME}.
func Values(text string, getenv func(name string) string) map[string]string {
	values := map[string]string{}
	for _, found := range lazyregexp.Of(variable).FindAllString(text, -1) {
		values[found] = getenv(found[2 : len(found)-1])
	}
	return values
}

// userinfo matches the scheme and the credentials of a URL.
const userinfo = `([a-z+]+)://([^/\s"@]+)@`

// hasSecret reports whether the URLs in a text have credentials, other than variables and the users of Git
// over SSH.
func hasSecret(text string) bool {
	if !strings.Contains(text, "://") {
		return false
	}
	for _, m := range lazyregexp.Of(userinfo).FindAllStringSubmatch(text, -1) {
		secret, password, _ := strings.Cut(m[2], ":")
		if password != "" { // else the user is a token
			secret = password
		}
		if !strings.HasSuffix(m[1], "ssh") && lazyregexp.Of(variable).ReplaceAllString(secret, "") != "" {
			return true
		}
	}
	return false
}

func (r *reader) warnExposed() {
	files := r.exposed
	for _, l := range slices.Concat(r.wanted.Requirements, r.wanted.Dropped, r.wanted.Constraints, r.wanted.Remote) {
		if hasSecret(l.Text) {
			files = append(files, l.File)
		}
	}
	who := "which everyone with the file can read"
	if Contains(r.Root, r.wanted.Dir) {
		who = "and is uploaded with the code if it is not ignored"
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		r.warn(fmt.Sprintf("%s has credentials in a URL, %s: put them into ~/.netrc, or into variables, such as https://${USER}:${PASSWORD}@HOST", file, who))
	}
}
