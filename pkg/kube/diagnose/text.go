package diagnose

import (
	"cmp"
	"strings"
	"unicode"
)

const (
	sentenceLimit = 300
	// foreignLimit leaves room for our own words around a text from elsewhere.
	foreignLimit = 200
)

// oneLine makes one line of a text: characters that don't print become spaces.
func oneLine(text string) string {
	printing := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	return strings.Join(strings.Fields(printing), " ")
}

// cut keeps the beginning and the end of a text, with a mark at the cut: a chain of
// errors begins with what was being done and ends with the cause.
func cut(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	head := limit / 2
	tail := len(runes) - (limit - 1 - head)
	return strings.TrimRight(string(runes[:head]), " ") + "…" + strings.TrimLeft(string(runes[tail:]), " ")
}

// foreign makes a text from elsewhere fit into a sentence.
func foreign(text string) string {
	return cut(strings.TrimRight(oneLine(text), ". "), foreignLimit)
}

// with returns a diagnosis whose sentence goes on with another one, and whose command is the other's, if it has one.
func (d Diagnosis) with(more Diagnosis) Diagnosis {
	d.Sentence, d.Next = d.Sentence+prefixed("; ", more.Sentence), cmp.Or(more.Next, d.Next)
	return d
}

// prefixed returns the text with a prefix, or "" if the text is empty.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
