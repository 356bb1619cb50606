package call

import (
	"slices"
	"strings"
	"unicode"
)

func isKeyword(s string) bool {
	// Keywords are not names in Python; the soft keywords (match, type, case, _) are.
	// https://docs.python.org/3/reference/lexical_analysis.html#keywords
	keywords := []string{
		"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
		"del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
		"nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
	}
	return slices.Contains(keywords, s)
}

// isIdentifier reports whether Python accepts s as a name, keywords included. Python's own
// rule (XID_Start, XID_Continue) has a handful more characters.
func isIdentifier(s string) bool {
	for i, r := range s {
		if !isNameStart(r) && (i == 0 || !isNamePart(r)) {
			return false
		}
	}
	return s != ""
}

func isNameStart(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.Nl) }

func isNamePart(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) }

// isDottedName reports whether s is one identifier or several with dots between.
func isDottedName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isIdentifier(part) {
			return false
		}
	}
	return true
}

// toIdentifier makes a module name from the stem of a file: my-train becomes my_train.
func toIdentifier(stem string) string {
	name := strings.Map(func(r rune) rune {
		if isNameStart(r) || isNamePart(r) {
			return r
		}
		return '_'
	}, stem)
	if !isIdentifier(name) {
		return "_" + name
	}
	return name
}
