// Package deps finds out which Python packages a project needs, as far as its own files say:
// requirements.txt, pyproject.toml, a lock file, or the metadata in a script. It also reads which
// wheels a lock file has for a target. It reads files below the package root only, and contacts nothing.
package deps

import (
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// PyPI is the index that is asked where a project names none.
const PyPI = "https://pypi.org/simple"

// Kind is the kind of file that says what a project needs.
type Kind string

// The kinds of files.
const (
	None         Kind = "" // there is no such file, or none is wanted
	Requirements Kind = "requirements.txt"
	Project      Kind = "pyproject.toml"
	Script       Kind = "script" // metadata in a script (PEP 723)
	UVLock       Kind = "uv.lock"
	PyLock       Kind = "pylock.toml" // PEP 751
)

// IsLock reports whether a file names every package with its version and hash.
func (k Kind) IsLock() bool { return k == UVLock || k == PyLock }

// Wanted is what a project needs.
type Wanted struct {
	Kind Kind
	// Source is the path of the file, as users know it.
	Source string
	// Dir is the absolute directory of the file.
	Dir string
	// Requirements are those that remain after the filter, in the order of the files.
	Requirements []Line
	// Dropped are requirements that the filter left out: jobs get JAX in a version that fits
	// their accelerator.
	Dropped []Line
	// Local are projects whose code is in the package root and travels with the job. What
	// they need is among Requirements.
	Local []Line
	// Constraints limit versions of packages that are needed anyway.
	Constraints []Line
	// Options are options of pip, such as --index-url URL, in the order of the files. They
	// may hold credentials.
	Options []string
	// IndexNames are the names that uv's settings give to indexes, by their URL. Variables with
	// credentials have these names in theirs.
	IndexNames map[string]string
	// LocalDirs are the absolute directories of these projects, and of the one that ProjectName names.
	LocalDirs []string
	// Lock is the text of a lock file.
	Lock []byte
	// ProjectName is the name of the project that pyproject.toml describes, "" if there is none.
	ProjectName string
	// Extras and Groups are those that were asked for.
	Extras, Groups []string
	// RequiresPython is the project's condition on Python's version, "" for none.
	RequiresPython string
	// Remote are the URLs of files of requirements that -r and -c name, and Unfetched are those of them whose lines are
	// not known. They may hold credentials.
	Remote, Unfetched []Line
	// HashesAt is the place of --require-hashes, "" without.
	HashesAt string
	// Unread means that files which are not read say more about what is needed.
	Unread bool
	// Warnings are sentences for the user.
	Warnings []string
}

// Line is a requirement and the place where it was found.
type Line struct {
	// Text is the requirement without comment, options and hashes.
	Text string
	// Hashes are what --hash names, such as sha256:…
	Hashes []string
	File   string
	Number int // the first is 1; 0 if it is not known
	// Path is the absolute path of a requirement that is a file, "" for others.
	Path string

	kept bool // whatever the filter says
}

// Place returns the file and the number of the line, for errors.
func (l Line) Place() string { return place(l.File, l.Number) }

// BesidePath returns what a requirement that is a file says beside its path: extras in brackets, and a
// marker, "" for none.
func (l Line) BesidePath() (extras, marker string) {
	text, marker, _ := strings.Cut(l.Text, ";")
	text = strings.TrimSpace(text)
	if name, _, found := cutName(text); found {
		text = name
	}
	if i := strings.LastIndexByte(text, '['); i >= 0 && strings.HasSuffix(text, "]") {
		extras = text[i:]
	}
	return extras, strings.TrimSpace(marker)
}

// place returns a file and a line number as compilers write them.
func place(file string, number int) string {
	if number == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, number)
}

// Shown returns the texts of lines without the credentials in URLs. It is not nil.
func Shown(lines []Line) []string {
	texts := make([]string, 0, len(lines))
	for _, l := range lines {
		texts = append(texts, Hidden(l.Text))
	}
	return texts
}

// credentials are what a URL may have before the name of its host, and query is what follows
// its path, which may be a signature.
const (
	loginForm = `://[^/\s"]+@`
	query     = `(://[^?\s"]*)\?[^#\s"]+`
)

// Hidden returns a text for people, without the credentials in its URLs.
func Hidden(text string) string {
	return lazyregexp.Of(query).ReplaceAllString(lazyregexp.Of(loginForm).ReplaceAllString(text, "://***@"), "$1?***")
}

// logins are the credentials of web servers, and passwords those of others, such as Git over SSH,
// where the user alone is no secret and belongs to the address.
const (
	logins     = `(?i)(https?://)[^/\s"]+@`
	secretForm = `(://[^/\s":@]*):[^/\s"]+@` //nolint:gosec // a pattern, not a credential
)

// WithoutUsers returns a text without the credentials in its URLs: with others it still means the
// same.
func WithoutUsers(text string) string {
	return lazyregexp.Of(secretForm).ReplaceAllString(lazyregexp.Of(logins).ReplaceAllString(text, "$1"), "$1@")
}

// signature is a parameter of a URL that lets whoever has it read the file.
const signature = `(?i)://[^\s"]*[?&](?:[a-z-]*signature|sig|[a-z_-]*token|password|key)=`

// Signed reports whether a URL in a text has a signature, or another secret, behind its path.
func Signed(text string) bool { return lazyregexp.Of(signature).MatchString(text) }

// HasCredentials reports whether a URL in a text has credentials.
func HasCredentials(text string) bool { return Signed(text) || WithoutUsers(text) != text }

// wrong returns an error about a place in a file.
func wrong(at string, err error) error { return fmt.Errorf("%s: %s", at, Hidden(err.Error())) }
