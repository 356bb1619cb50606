package resolve

import (
	"cmp"
	"strings"
)

// NetrcLogins returns the credentials in the text of a .netrc file. It reads the text as Python's
// netrc module does, but of two lines for one host the first counts, unknown words are ignored, and macros of ftp are not
// skipped.
func NetrcLogins(text string) func(host string) (user, password string, ok bool) {
	type login struct{ user, password string }
	logins := map[string]*login{}
	current, fallback := &login{}, (*login)(nil)
	for words := (netrcWords{text}); words.more(); {
		if strings.HasPrefix(words.rest, "#") {
			_, words.rest, _ = strings.Cut(words.rest, "\n")
			continue
		}
		switch words.next() {
		case "default":
			current = &login{}
			fallback = current
		case "machine":
			current = &login{}
			if host := words.next(); logins[host] == nil {
				logins[host] = current
			}
		case "login", "user":
			current.user = words.next()
		case "password":
			current.password = words.next()
		case "account":
			words.next()
		}
	}
	return func(host string) (string, string, bool) {
		found := cmp.Or(logins[host], fallback)
		if found == nil {
			return "", "", false
		}
		return found.user, found.password, true
	}
}

type netrcWords struct{ rest string }

func (w *netrcWords) more() bool {
	w.rest = strings.TrimLeft(w.rest, "\n\t\r ")
	return w.rest != ""
}

// next returns the next word, "" at the end. Blanks count in quotes, and every character behind a backslash.
func (w *netrcWords) next() string {
	if !w.more() {
		return ""
	}
	end := "\n\t\r "
	if w.rest[0] == '"' {
		w.rest, end = w.rest[1:], `"`
	}
	var word strings.Builder
	for w.rest != "" && !strings.ContainsRune(end, rune(w.rest[0])) {
		if w.rest[0] == '\\' {
			w.rest = w.rest[1:]
		}
		if w.rest != "" {
			word.WriteByte(w.rest[0])
			w.rest = w.rest[1:]
		}
	}
	if end == `"` {
		w.rest = strings.TrimPrefix(w.rest, end)
	}
	return word.String()
}
