package wheel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// Name is the file name of a wheel, in its parts (PEP 427).
type Name struct {
	File         string // "numpy-2.1.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
	Distribution string // as it is written in the file name
	Version      string
	Build        string   // "", or what tells builds of one version apart; begins with a digit
	Pythons      []string // "cp312"; lower case, as the next two
	ABIs         []string // "cp312"
	Platforms    []string // "manylinux_2_17_x86_64", "manylinux2014_x86_64"
}

// ParseName parses the file name of a wheel. It does not check the version's syntax.
func ParseName(file string) (Name, error) {
	fail := func(why string) (Name, error) {
		return Name{}, fmt.Errorf("%q is not the file name of a wheel: %s; such a name is DISTRIBUTION-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl", file, why)
	}
	stem, ok := strings.CutSuffix(file, ".whl")
	if !ok {
		return fail("it does not end with .whl")
	}
	if len(file) > maxComponent {
		return fail(fmt.Sprintf("it has %d bytes, more than the %d of a file name", len(file), maxComponent))
	}
	parts := strings.Split(stem, "-")
	if len(parts) != 5 && len(parts) != 6 {
		return fail(fmt.Sprintf("it has %d parts between hyphens", len(parts)))
	}
	for _, part := range parts {
		if !lazyregexp.Of(namePart).MatchString(part) {
			return fail(fmt.Sprintf("the part %q is empty or has an unexpected character", part))
		}
	}
	n := Name{File: file, Distribution: parts[0], Version: parts[1]}
	if len(parts) == 6 {
		if n.Build = parts[2]; n.Build[0] < '0' || n.Build[0] > '9' {
			return fail(fmt.Sprintf("the build %q does not begin with a digit", n.Build))
		}
	}
	tags := parts[len(parts)-3:]
	for i, list := range []*[]string{&n.Pythons, &n.ABIs, &n.Platforms} {
		*list = strings.Split(strings.ToLower(tags[i]), ".")
	}
	for _, tag := range n.Tags() {
		if strings.HasPrefix(tag, "-") || strings.Contains(tag, "--") || strings.HasSuffix(tag, "-") {
			return fail("a tag is empty")
		}
	}
	return n, nil
}

// namePart matches letters and digits of any language, and what PEP 440 has in versions.
const namePart = `^[\pL\pN_.+!]+$`

// Project returns the normalized name of the wheel's project.
func (n Name) Project() string { return requirement.Normalize(n.Distribution) }

// Tags returns all tags of the wheel (PEP 425), such as "cp312-cp312-manylinux_2_17_x86_64".
func (n Name) Tags() []string {
	var tags []string
	for _, python := range n.Pythons {
		for _, abi := range n.ABIs {
			for _, platform := range n.Platforms {
				tags = append(tags, python+"-"+abi+"-"+platform)
			}
		}
	}
	return tags
}

// Source is where a wheel comes from.
type Source struct {
	File   string // its name, "six-1.16.0-py2.py3-none-any.whl"
	SHA256 string // in lower-case hex digits, "" until it is known
	URL    string // from which it is fetched
	Path   string // absolute, where it is on this machine; then URL is not used
	Size   int64  // in bytes, 0 if it is unknown
}

const sha256Pattern = `^[0-9a-f]{64}$`

// Check reports what the source lacks.
func (s Source) Check() error {
	if _, err := ParseName(s.File); err != nil {
		return err
	}
	if !lazyregexp.Of(sha256Pattern).MatchString(s.SHA256) {
		return fmt.Errorf("%s: %q is not a SHA-256: 64 lower-case hex digits", s.File, s.SHA256)
	}
	if s.URL == "" && s.Path == "" {
		return fmt.Errorf("%s: neither a URL nor a file to read it from is known", s.File)
	}
	return nil
}

// Project returns the normalized name of the wheel's project. The source was checked.
func (s Source) Project() string {
	parsed, _ := ParseName(s.File)
	return parsed.Project()
}

// build returns the number and the rest of the build, by which builds are ordered.
func (n Name) build() (number uint64, rest string) {
	digits := strings.IndexFunc(n.Build, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(n.Build)
	}
	number, _ = strconv.ParseUint(n.Build[:digits], 10, 64) // none is 0, before all others
	return number, n.Build[digits:]
}
