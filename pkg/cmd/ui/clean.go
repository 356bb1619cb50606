package ui

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a short text from elsewhere (a name, a message, an event) safe for a
// terminal. Printable characters, line ends and tabs stay; everything else (escape
// sequences, carriage returns, marks that reverse the direction of writing, bytes that
// are not UTF-8) becomes visible, like \x1b. It is not for logs, which keep their
// colours.
func Clean(text string) string {
	if strings.IndexFunc(text, suspect) < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i]), 16))
		case suspect(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// suspect reports whether Clean has to look closer at a character. Bytes that are not
// UTF-8 decode to the replacement character, which may also stand for itself.
func suspect(r rune) bool {
	return r != '\n' && r != '\t' && (!unicode.IsGraphic(r) || r == utf8.RuneError)
}
