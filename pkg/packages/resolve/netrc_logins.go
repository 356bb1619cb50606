package resolve

import "strings"

// NetrcLogins returns the credentials in the text of a .netrc file, for Client.Login. It reads the text as Python's
// netrc module does, but of two lines for one host the first counts, and words that it does not know are ignored.
func NetrcLogins(text string) func(host string) (user, password string, ok bool) {
	type login struct{ user, password string }
	logins := map[string]*login{}
	current, fallback := &login{}, (*login)(nil)
	for words := (netrcWords{text}); words.more(); {
		if strings.HasPrefix(words.rest, "#") {
			words.skipLine()
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
		case "macdef":
			words.skipMacro()
		}
	}
	return func(host string) (string, string, bool) {
		found := logins[host]
		if found == nil {
			found = fallback
		}
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

func (w *netrcWords) skipLine() { _, w.rest, _ = strings.Cut(w.rest, "\n") }

// skipMacro leaves out a macro of ftp, which ends with an empty line.
func (w *netrcWords) skipMacro() {
	w.skipLine()
	for w.rest != "" {
		line, rest, _ := strings.Cut(w.rest, "\n")
		if w.rest = rest; strings.TrimSpace(line) == "" {
			return
		}
	}
}
