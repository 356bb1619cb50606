// Package shellquote writes command lines that can be pasted into a shell.
package shellquote

import "strings"

// Word returns text as one word of a shell command: plain text as it is, any other text
// in single quotes.
func Word(text string) string {
	if text != "" && strings.IndexFunc(text, isSpecial) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// isSpecial reports whether some shell may change a character.
func isSpecial(r rune) bool {
	plain := strings.ContainsRune("/._-+@%:,", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	return !plain
}
