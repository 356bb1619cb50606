package pack

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// Rules are the patterns of a .kineticignore file, with the meaning they have in
// a .gitignore at the same place. The zero value ignores nothing.
type Rules struct {
	rules []rule
}

type rule struct {
	// segments are matched one to one with the elements of a path, in the syntax
	// of path.Match; doubleStar stands for any number of elements.
	segments []string
	include  bool // a leading "!"
	dirOnly  bool // a trailing "/"
	line     int  // of the file, from 1
}

const doubleStar = "**"

// ParseRules reads the text of an ignore file. Errors name the line, from 1.
func ParseRules(text []byte) (Rules, error) {
	var r Rules
	for number, line := range strings.Split(string(platform.Text(text)), "\n") {
		parsed, ok, err := parseLine(line)
		if err != nil {
			return Rules{}, fmt.Errorf("line %d: %w", number+1, err)
		}
		if ok {
			parsed.line = number + 1
			r.rules = append(r.rules, parsed)
		}
	}
	return r, nil
}

// parseLine reads one line; ok is false for an empty one or a comment.
func parseLine(line string) (r rule, ok bool, err error) {
	pattern := trim(line)
	if pattern == "" || pattern[0] == '#' {
		return rule{}, false, nil
	}
	pattern, r.include = strings.CutPrefix(pattern, "!")
	bare := strings.TrimRight(pattern, "/")
	r.dirOnly = bare != pattern
	anchored := strings.Contains(bare, "/")
	bare = strings.TrimLeft(bare, "/")
	if bare == "" {
		return rule{}, false, nil
	}
	if !anchored {
		r.segments = []string{doubleStar}
	}
	for _, glob := range strings.Split(bare, "/") {
		if n := len(r.segments); glob == doubleStar && n > 0 && r.segments[n-1] == doubleStar {
			continue // two in a row mean the same as one
		}
		segment, err := translate(glob)
		if err != nil {
			return rule{}, false, fmt.Errorf("pattern %q: %w", strings.TrimSpace(line), err)
		}
		r.segments = append(r.segments, segment)
	}
	return r, true, nil
}

// trim removes the space around a pattern, except for a trailing one that a backslash
// protects.
func trim(line string) string {
	const space = " \t\r\v\f"
	line = strings.TrimLeft(line, space)
	short := strings.TrimRight(line, space)
	backslashes := len(short) - len(strings.TrimRight(short, `\`))
	if backslashes%2 == 1 && len(short) < len(line) {
		return line[:len(short)+1]
	}
	return short
}

// Ignored reports whether the last rule that matches rel ignores it. rel is relative, with
// forward slashes. Everything below an ignored directory is ignored whatever the rules say,
// so ask from the top down and stop there.
func (r Rules) Ignored(rel string, isDir bool) bool { return r.Line(rel, isDir) > 0 }

// Line returns the line, from 1, of the rule that ignores rel, or 0 if it is not ignored.
func (r Rules) Line(rel string, isDir bool) int {
	elements := strings.Split(rel, "/")
	for _, rule := range slices.Backward(r.rules) {
		if (isDir || !rule.dirOnly) && matchPath(rule.segments, elements) {
			if rule.include {
				return 0
			}
			return rule.line
		}
	}
	return 0
}

// matchPath matches a whole path. It backtracks to the latest "**" only, which is enough,
// so the time is bounded by the product of the lengths.
func matchPath(segments, elements []string) bool {
	s, e := 0, 0
	star, resume := -1, 0
	for e < len(elements) {
		switch {
		case s < len(segments) && segments[s] == doubleStar:
			if s == len(segments)-1 {
				return true // "a/**" needs something below a, and here it is
			}
			star, resume = s, e
			s++
		case s < len(segments) && matchElement(segments[s], elements[e]):
			s++
			e++
		case star >= 0:
			resume++
			s, e = star+1, resume
		default:
			return false
		}
	}
	return s == len(segments)
}

func matchElement(pattern, element string) bool {
	ok, err := path.Match(pattern, element)
	return ok && err == nil
}
