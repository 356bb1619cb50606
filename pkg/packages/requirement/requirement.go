// Package requirement reads the requirements of Python projects as PEP 508 defines them: names,
// extras, versions (PEP 440) and environment markers.
package requirement

import (
	"fmt"
	"slices"
	"strings"
)

// Requirement is a project that has to be installed.
type Requirement struct {
	// Name is the project's name as it was written.
	Name       string
	Extras     []string
	Specifiers Specifiers
	// URL is where the project comes from, "" for an index.
	URL    string
	Marker Marker
}

// Normalize returns the form of a name that equals that of all its spellings (PEP 503).
func Normalize(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	inside := false // a row of separators, which is one
	for i := range len(name) {
		switch c := name[i]; {
		case c != '-' && c != '_' && c != '.':
			b.WriteByte(c)
			inside = false
		case !inside:
			b.WriteByte('-')
			inside = true
		}
	}
	return strings.ToLower(b.String())
}

// LeadingName returns the name of a project or of an extra with which a text begins, "" if it begins with none: letters
// and digits, with dots, hyphens and underscores between them. Blanks before it don't matter.
func LeadingName(text string) string {
	text = strings.TrimLeft(text, " \t")
	end := 0
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			end = i + 1
		case i == 0, c != '.' && c != '-' && c != '_':
			return text[:end]
		}
	}
	return text[:end]
}

// SyntaxError is an error in the text of a requirement.
type SyntaxError struct {
	// Column is where the error was found: the first character has number 1.
	Column int
	err    error
}

func (e *SyntaxError) Error() string { return e.err.Error() }

// Unwrap returns the error without its column.
func (e *SyntaxError) Unwrap() error { return e.err }

// Parse reads a requirement. The error is a *SyntaxError.
func Parse(text string) (Requirement, error) {
	p := parser{text: text, rest: text}
	r, err := p.requirement()
	if err != nil {
		return r, &SyntaxError{Column: len(text) - len(p.rest) + 1, err: err}
	}
	return r, nil
}

// parser reads a requirement or a marker from left to right.
type parser struct{ text, rest string }

func (p *parser) blanks() { p.rest = strings.TrimLeft(p.rest, " \t") }

// take reads a text if it comes next.
func (p *parser) take(text string) bool {
	p.blanks()
	rest, ok := strings.CutPrefix(p.rest, text)
	p.rest = rest
	return ok
}

func (p *parser) requirement() (Requirement, error) {
	p.blanks()
	r := Requirement{Name: LeadingName(p.rest)}
	if r.Name == "" {
		return r, fmt.Errorf("%q does not begin with the name of a project", p.text)
	}
	p.rest = p.rest[len(r.Name):]
	var err error
	if r.Extras, err = p.extras(); err != nil {
		return r, err
	}
	if p.take("@") {
		return r, p.address(&r)
	}
	return r, p.conditions(&r)
}

func (p *parser) extras() ([]string, error) {
	if !p.take("[") {
		return nil, nil
	}
	var extras []string
	for !p.take("]") {
		if len(extras) > 0 && !p.take(",") {
			return nil, fmt.Errorf("a comma or ] is missing after extra %s", extras[len(extras)-1])
		}
		p.blanks()
		extra := LeadingName(p.rest)
		if extra == "" {
			return nil, fmt.Errorf("the name of an extra is missing")
		}
		p.rest = p.rest[len(extra):]
		extras = append(extras, extra)
	}
	return extras, nil
}

// address reads a URL and the marker after it, which a blank separates.
func (p *parser) address(r *Requirement) (err error) {
	p.blanks()
	end := strings.IndexAny(p.rest, " \t")
	if end < 0 {
		end = len(p.rest)
	}
	if r.URL = p.rest[:end]; r.URL == "" {
		return fmt.Errorf("a URL is missing after @")
	}
	p.rest = p.rest[end:]
	r.Marker, err = p.marker()
	return err
}

func (p *parser) conditions(r *Requirement) (err error) {
	inside := p.take("(")
	p.blanks()
	end := strings.IndexAny(p.rest, ";)")
	if end < 0 {
		end = len(p.rest)
	}
	versions := strings.TrimRight(p.rest[:end], " \t")
	if versions != "" && !slices.ContainsFunc(operators, func(o string) bool { return strings.HasPrefix(versions, o) }) {
		return fmt.Errorf("%q can't follow the name %s: a version needs one of %s", versions, r.Name, strings.Join(operators, " "))
	}
	if r.Specifiers, err = ParseSpecifiers(versions); err != nil {
		return err
	}
	p.rest = p.rest[end:]
	if inside && !p.take(")") {
		return fmt.Errorf("a closing parenthesis is missing")
	}
	r.Marker, err = p.marker()
	return err
}

// marker reads what may follow a semicolon.
func (p *parser) marker() (Marker, error) {
	if p.blanks(); p.rest == "" {
		return Marker{}, nil
	}
	if !p.take(";") {
		return Marker{}, fmt.Errorf("%q is not understood: a marker begins with ;", p.rest)
	}
	return ParseMarker(p.rest)
}
