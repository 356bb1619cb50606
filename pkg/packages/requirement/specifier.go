package requirement

import (
	"fmt"
	"slices"
	"strings"
)

// Specifiers are the conditions of PEP 440 on a version, such as >=1.2,<2. The zero value
// contains all versions.
type Specifiers []specifier

type specifier struct {
	operator string
	text     string // of the version
	version  Version
	series   bool // the version ends in .*
}

// operators are those of PEP 440, none before one that begins with it.
var operators = []string{"===", "==", "!=", "<=", ">=", "~=", "<", ">"}

// ParseSpecifiers reads conditions that are separated by commas.
func ParseSpecifiers(text string) (Specifiers, error) {
	var all Specifiers
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		i := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(part, o) })
		if i < 0 {
			return nil, fmt.Errorf("%q does not begin with one of %s", part, strings.Join(operators, " "))
		}
		s, err := newSpecifier(operators[i], strings.TrimSpace(part[len(operators[i]):]))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func newSpecifier(operator, text string) (specifier, error) {
	s := specifier{operator: operator, text: text}
	if operator == "===" {
		if text == "" || strings.ContainsAny(text, " \t;)") {
			return s, fmt.Errorf("%q is not a version", text)
		}
		return s, nil
	}
	text, s.series = strings.CutSuffix(text, ".*")
	var err error
	if s.version, err = ParseVersion(text); err != nil {
		return s, err
	}
	v, equality := s.version, operator == "==" || operator == "!="
	switch {
	case s.series && !equality:
		return s, fmt.Errorf("%s%s: only == and != take a version with .*", operator, s.text)
	case s.series && (v.local != "" || v.dev >= 0):
		return s, fmt.Errorf("%s%s: .* can't follow a development release or a local version", operator, s.text)
	case v.local != "" && !equality:
		return s, fmt.Errorf("%s%s: only == and != take a local version", operator, s.text)
	case operator == "~=" && v.digits < 2:
		return s, fmt.Errorf("%s%s: ~= needs at least two numbers, such as ~=%s.0", operator, s.text, s.text)
	}
	return s, nil
}

// String returns the conditions as PEP 440 writes them, in the order in which they were given.
func (all Specifiers) String() string {
	parts := make([]string, len(all))
	for i, s := range all {
		parts[i] = s.operator + s.text
	}
	return strings.Join(parts, ",")
}

// Contain reports whether a version meets all conditions. Prereleases are not treated specially.
func (all Specifiers) Contain(v Version) bool {
	return !slices.ContainsFunc(all, func(s specifier) bool { return !s.contains(v) })
}

// EndBefore reports whether one of the conditions excludes a version and all later ones.
func (all Specifiers) EndBefore(v Version) bool {
	return slices.ContainsFunc(all, func(s specifier) bool {
		switch s.operator {
		case "==", "<=", "<", "~=":
			return s.version.Compare(v) <= 0 && !s.contains(v)
		case "===": // compares texts, which need not be versions
			w, err := ParseVersion(s.text)
			return err == nil && w.Compare(v) < 0
		}
		return false
	})
}

// Pinned returns the version that the conditions name with == or ===, and whether there is one.
func (all Specifiers) Pinned() (string, bool) {
	if len(all) == 1 && strings.HasPrefix(all[0].operator, "==") && !all[0].series {
		return all[0].text, true
	}
	return "", false
}

func (s specifier) contains(v Version) bool {
	w := s.version
	switch s.operator {
	case "===":
		return strings.EqualFold(v.text, s.text)
	case "==":
		return s.equals(v)
	case "!=":
		return !s.equals(v)
	case "<=":
		return v.comparePublic(w) <= 0
	case ">=":
		return v.comparePublic(w) >= 0
	case "<":
		return v.Compare(w) < 0 && (w.IsPrerelease() || !v.IsPrerelease() || !v.sameRelease(w))
	case ">":
		laterOfSame := v.sameRelease(w) && (w.post < 0 && v.post >= 0 || v.local != "")
		return v.Compare(w) > 0 && !laterOfSame
	default: // ~=
		return v.comparePublic(w) >= 0 && v.isIn(Version{epoch: w.epoch, release: padded(w.release, w.digits)[:w.digits-1], digits: w.digits - 1, post: -1, dev: -1})
	}
}

func (s specifier) equals(v Version) bool {
	switch {
	case s.series:
		return v.isIn(s.version)
	case s.version.local != "":
		return v.Compare(s.version) == 0
	}
	return v.comparePublic(s.version) == 0
}
