package requirement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Marker is a condition on the environment, such as python_version < "3.11". The zero value
// always holds.
type Marker struct {
	text string
	test test
}

// test reports whether a part of a marker holds.
type test func(Environment) (bool, error)

// ParseMarker reads a marker (PEP 508).
func ParseMarker(text string) (Marker, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Marker{}, nil
	}
	p := &parser{rest: text}
	holds, err := p.or(0)
	p.blanks()
	if err == nil && p.rest != "" {
		err = fmt.Errorf("%q is left over", p.rest)
	}
	if err != nil {
		return Marker{}, fmt.Errorf("marker %q: %w", text, err)
	}
	return Marker{text, holds}, nil
}

// String returns the marker as it was written.
func (m Marker) String() string { return m.text }

// Holds reports whether the marker holds. The error says that it compares what can't be
// compared.
func (m Marker) Holds(e Environment) (bool, error) {
	if m.test == nil {
		return true, nil
	}
	holds, err := m.test(e)
	if err != nil {
		return false, fmt.Errorf("marker %q: %w", m.text, err)
	}
	return holds, nil
}

// maxDepth is how deep parentheses may be nested.
const maxDepth = 100

// word reads a word if it comes next.
func (p *parser) word(w string) bool {
	p.blanks()
	rest, ok := strings.CutPrefix(p.rest, w)
	if !ok || rest != "" && isWordByte(rest[0]) {
		return false
	}
	p.rest = rest
	return true
}

func isWordByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func (p *parser) or(depth int) (test, error) {
	return p.joined("or", true, func() (test, error) {
		return p.joined("and", false, func() (test, error) { return p.term(depth) })
	})
}

// joined reads terms that are joined by a word. One with the deciding value decides.
func (p *parser) joined(word string, decides bool, next func() (test, error)) (test, error) {
	var terms []test
	for more := true; more; more = p.word(word) {
		t, err := next()
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
	}
	return func(e Environment) (bool, error) {
		result := !decides
		for _, t := range terms {
			holds, err := t(e)
			if err != nil {
				return false, err // even if another term decides, as in Python's packaging
			}
			if holds == decides {
				result = decides
			}
		}
		return result, nil
	}, nil
}

func (p *parser) term(depth int) (test, error) {
	if !p.take("(") {
		return p.comparison()
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("more than %d nested parentheses", maxDepth)
	}
	t, err := p.or(depth + 1)
	if err == nil && !p.take(")") {
		err = fmt.Errorf("a closing parenthesis is missing before %q", p.rest)
	}
	return t, err
}

// operand is one side of a comparison: a text or a variable.
type operand struct{ text, variable string }

func (o operand) value(e Environment) string {
	if o.variable == "" {
		return o.text
	}
	return variables[o.variable](e)
}

func (p *parser) operand() (operand, error) {
	p.blanks()
	if p.rest == "" {
		return operand{}, fmt.Errorf("it ends too early")
	}
	if quote := p.rest[0]; quote == '\'' || quote == '"' {
		text, rest, closed := strings.Cut(p.rest[1:], string(quote))
		if !closed {
			return operand{}, fmt.Errorf("a closing %c is missing", quote)
		}
		p.rest = rest
		return operand{text: text}, nil
	}
	n := 0
	for n < len(p.rest) && (isWordByte(p.rest[n]) || p.rest[n] == '.') {
		n++
	}
	name := p.rest[:n]
	p.rest = p.rest[n:]
	name = cmp.Or(oldNames[name], name)
	if variables[name] == nil && setVariables[name] == nil {
		return operand{}, fmt.Errorf("%q is not a variable of markers", name+p.rest[:min(len(p.rest), 1)])
	}
	return operand{variable: name}, nil
}

func (p *parser) operator() (string, error) {
	if p.word("in") {
		return "in", nil
	}
	if p.word("not") {
		if !p.word("in") {
			return "", fmt.Errorf(`"not" is not followed by "in"`)
		}
		return "not in", nil
	}
	for _, o := range operators {
		if p.take(o) {
			return o, nil
		}
	}
	return "", fmt.Errorf("a comparison is missing before %q", p.rest)
}

func (p *parser) comparison() (test, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	operator, err := p.operator()
	if err != nil {
		return nil, err
	}
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	if setVariables[left.variable] != nil || setVariables[right.variable] != nil {
		return membership(left, operator, right)
	}
	return func(e Environment) (bool, error) { return compare(left, operator, right, e) }, nil
}

func membership(left operand, operator string, right operand) (test, error) {
	if left.variable == "extra" {
		left, right = right, left
	}
	values := setVariables[right.variable]
	switch {
	case values == nil || left.variable != "":
		return nil, fmt.Errorf("%s can only be compared with a text", cmp.Or(left.variable, right.variable))
	case right.variable == "extra" && operator != "==" && operator != "!=":
		return nil, fmt.Errorf("%s extra: only == and != are possible", operator)
	case right.variable != "extra" && operator != "in" && operator != "not in":
		return nil, fmt.Errorf("%s %s: only in and not in are possible", operator, right.variable)
	}
	wanted, isMember := Normalize(left.text), operator == "==" || operator == "in"
	return func(e Environment) (bool, error) {
		has := slices.ContainsFunc(values(e), func(v string) bool { return Normalize(v) == wanted })
		return has == isMember, nil
	}, nil
}

// compare compares two operands as Python's packaging does: as versions if one is a variable
// that is a version, and the right side can be one, else as texts.
func compare(left operand, operator string, right operand, e Environment) (bool, error) {
	a, b := left.value(e), right.value(e)
	if isVersion(left.variable) || left.variable == "" && isVersion(right.variable) {
		if holds, possible := compareVersions(a, operator, b); possible {
			return holds, nil
		}
	}
	switch operator {
	case "in":
		return strings.Contains(b, a), nil
	case "not in":
		return !strings.Contains(b, a), nil
	case "==", "===":
		return a == b, nil
	case "!=":
		return a != b, nil
	case "<":
		return a < b, nil
	case "<=":
		return a <= b, nil
	case ">":
		return a > b, nil
	case ">=":
		return a >= b, nil
	}
	return false, fmt.Errorf("%q %s %q: not versions", a, operator, b)
}

// compareVersions compares two versions. possible is false if one of them is none.
func compareVersions(a, operator, b string) (holds, possible bool) {
	if !slices.Contains(operators, operator) {
		return false, false
	}
	v, err := ParseVersion(a)
	if err != nil {
		return false, false
	}
	s, err := newSpecifier(operator, strings.TrimSpace(b))
	if err != nil {
		return false, false
	}
	return s.contains(v), true
}
