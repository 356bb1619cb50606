package pack

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// translate rewrites one path element of an ignore pattern for path.Match, which treats
// "*", "?" and backslashes the same way but is stricter about classes.
func translate(glob string) (string, error) {
	var out strings.Builder
	for rest := glob; rest != ""; {
		switch rest[0] {
		case '\\':
			if len(rest) == 1 {
				return "", errors.New(`ends with a backslash: write \\ to match one`)
			}
			_, size := utf8.DecodeRuneInString(rest[1:])
			out.WriteString(rest[:1+size])
			rest = rest[1+size:]
		case '[':
			class, after, err := translateClass(rest)
			if err != nil {
				return "", err
			}
			out.WriteString(class)
			rest = after
		default:
			out.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	if _, err := path.Match(out.String(), ""); err != nil {
		return "", err
	}
	return out.String(), nil
}

// translateClass rewrites the class at the start of text: "!" negates as "^" does, "]" is
// literal in first position, "-" in first and last.
func translateClass(text string) (class, after string, err error) {
	rest := text[1:]
	var out strings.Builder
	out.WriteByte('[')
	if rest != "" && (rest[0] == '!' || rest[0] == '^') {
		out.WriteByte('^')
		rest = rest[1:]
	}
	for first := true; first || !strings.HasPrefix(rest, "]"); first = false {
		if strings.HasPrefix(rest, "[:") {
			return "", "", fmt.Errorf("classes like %s are not supported: write the characters, as in [0-9a-z]", "[[:alpha:]]")
		}
		var low, high string
		if low, rest, err = classChar(rest); err != nil {
			return "", "", err
		}
		out.WriteString(low)
		if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
			continue
		}
		if high, rest, err = classChar(rest[1:]); err != nil {
			return "", "", err
		}
		if high < low { // UTF-8 sorts like its code points
			return "", "", fmt.Errorf("the range %s-%s is reversed", low[1:], high[1:])
		}
		out.WriteString("-" + high)
	}
	out.WriteByte(']')
	return out.String(), rest[1:], nil
}

// classChar returns the first character, which may be escaped, in escaped form.
func classChar(text string) (char, rest string, err error) {
	text = strings.TrimPrefix(text, `\`)
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return "", "", errors.New(`"[" without "]": write \[ to match a bracket`)
	}
	if r == utf8.RuneError && size == 1 {
		return "", "", errors.New("the class has a character that is not UTF-8")
	}
	return `\` + text[:size], text[size:], nil
}
