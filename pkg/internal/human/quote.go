package human

import "strings"

// Quote returns text as one word of a shell command: plain text as it is, any other text
// in single quotes.
func Quote(text string) string {
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
