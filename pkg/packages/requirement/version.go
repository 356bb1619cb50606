package requirement

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Version is the version of a Python project, as PEP 440 defines it.
type Version struct {
	text    string
	epoch   int
	release []int // without zeros at its end
	digits  int   // how many numbers the release was written with
	pre     prerelease
	post    int // -1 if there is none
	dev     int // -1 if there is none
	local   string
}

// prerelease is the part of a version that makes it an alpha, a beta or a release candidate.
type prerelease struct {
	phase  string // a, b, rc or ""
	number int
}

// versionForm is the form of appendix B of PEP 440.
const versionForm = `(?i)^v?(?:(\d+)!)?(\d+(?:\.\d+)*)` +
	`(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d+)?)?` +
	`(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d+)?)?` +
	`(?:[-_.]?(dev)[-_.]?(\d+)?)?` +
	`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`

// phases are the spellings of the phases of a prerelease.
var phases = map[string]string{"": "", "a": "a", "alpha": "a", "b": "b", "beta": "b", "c": "rc", "rc": "rc", "pre": "rc", "preview": "rc"}

// ParseVersion reads a version. Blanks around it don't matter.
func ParseVersion(text string) (Version, error) {
	if v, ok := parseRelease(strings.TrimSpace(text)); ok {
		return v, nil
	}
	m := lazyregexp.Of(versionForm).FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Version{}, fmt.Errorf("%q is not a version", text)
	}
	var tooLarge error
	number := func(digits string) int {
		if digits == "" {
			return 0
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			tooLarge = fmt.Errorf("%q is not a version: %s is too large", text, digits)
		}
		return n
	}
	v := Version{text: m[0], epoch: number(m[1]), post: -1, dev: -1, local: strings.ToLower(m[10])}
	for part := range strings.SplitSeq(m[2], ".") {
		v.release = append(v.release, number(part))
	}
	v.digits = len(v.release)
	v.release = withoutZeros(v.release)
	v.pre = prerelease{phases[strings.ToLower(m[3])], number(m[4])}
	switch {
	case m[5] != "":
		v.post = number(m[5])
	case m[6] != "":
		v.post = number(m[7])
	}
	if m[8] != "" {
		v.dev = number(m[9])
	}
	return v, tooLarge
}

// parseRelease reads a version of numbers and dots alone. Most are, and the expression takes
// much longer.
func parseRelease(text string) (Version, bool) {
	v := Version{text: text, post: -1, dev: -1}
	for part := range strings.SplitSeq(text, ".") {
		if strings.Trim(part, "0123456789") != "" {
			return v, false
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return v, false
		}
		v.release = append(v.release, n)
	}
	v.digits = len(v.release)
	v.release = withoutZeros(v.release)
	return v, true
}

// withoutZeros returns a release without the zeros at its end: 1.0 is 1.
func withoutZeros(release []int) []int {
	for len(release) > 1 && release[len(release)-1] == 0 {
		release = release[:len(release)-1]
	}
	return release
}

// String returns the version as it was written.
func (v Version) String() string { return v.text }

// IsPrerelease reports whether the version is a prerelease or a development release.
func (v Version) IsPrerelease() bool { return v.pre.phase != "" || v.dev >= 0 }

// Compare returns a negative number if v is older than w, 0 if they are equal, and a positive
// number if v is newer.
func (v Version) Compare(w Version) int {
	return cmp.Or(v.comparePublic(w), compareLocal(v.local, w.local))
}

// CompareVersions is Compare for the texts of versions. It returns 0 and an error if one of them is no version.
func CompareVersions(a, b string) (int, error) {
	v, err := ParseVersion(a)
	if err != nil {
		return 0, err
	}
	w, err := ParseVersion(b)
	if err != nil {
		return 0, err
	}
	return v.Compare(w), nil
}

// comparePublic is Compare without the local parts.
func (v Version) comparePublic(w Version) int {
	return cmp.Or(
		cmp.Compare(v.epoch, w.epoch), slices.Compare(v.release, w.release),
		cmp.Compare(v.rank(), w.rank()), cmp.Compare(v.pre.phase, w.pre.phase), cmp.Compare(v.pre.number, w.pre.number),
		cmp.Compare(v.post, w.post), cmp.Compare(v.devRank(), w.devRank()))
}

// rank orders development releases of a final release before its prereleases, and these before
// the final release.
func (v Version) rank() int {
	switch {
	case v.pre.phase != "":
		return 1
	case v.post < 0 && v.dev >= 0:
		return 0
	}
	return 2
}

func (v Version) devRank() int {
	if v.dev < 0 {
		return math.MaxInt
	}
	return v.dev
}

// separators are what the parts of a local version may have between them.
const separators = `[-_.]+`

// compareLocal compares the parts behind the plus sign of two versions.
func compareLocal(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(a), len(b))
	}
	return slices.CompareFunc(lazyregexp.Of(separators).Split(a, -1), lazyregexp.Of(separators).Split(b, -1), func(x, y string) int {
		n, xErr := strconv.Atoi(x)
		m, yErr := strconv.Atoi(y)
		switch {
		case xErr == nil && yErr == nil:
			return cmp.Compare(n, m)
		case xErr == nil:
			return 1 // a number is newer than a word
		case yErr == nil:
			return -1
		}
		return cmp.Compare(x, y)
	})
}

func (v Version) sameRelease(w Version) bool {
	return v.epoch == w.epoch && slices.Equal(v.release, w.release)
}

// isIn reports whether the version belongs to the series w, as 1.4.2 does to 1.4.*.
func (v Version) isIn(w Version) bool {
	if v.epoch != w.epoch {
		return false
	}
	series := padded(w.release, w.digits)
	if !slices.Equal(padded(v.release, w.digits)[:w.digits], series) {
		return false
	}
	if w.pre.phase == "" && w.post < 0 {
		return true
	}
	return len(v.release) <= w.digits && v.pre == w.pre && (w.post < 0 || v.post == w.post)
}

// padded returns a release with zeros up to n numbers.
func padded(release []int, n int) []int {
	return append(slices.Clip(release), make([]int, max(0, n-len(release)))...)
}
