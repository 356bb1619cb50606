package index

import "strings"

// Netrc returns the credentials in the text of a .netrc file, for Client.Login.
func Netrc(text string) func(host string) (user, password string, ok bool) {
	type login struct{ user, password string }
	logins := map[string]*login{}
	var current, fallback *login
	words := strings.Fields(withoutMacros(text))
	for i := 0; i < len(words); i++ {
		if words[i] == "default" {
			current = &login{}
			fallback = current
			continue
		}
		if i+1 == len(words) {
			break // the file ends too early
		}
		value := words[i+1]
		switch words[i] {
		case "machine":
			current = &login{}
			if logins[value] == nil { // the first one counts
				logins[value] = current
			}
			i++
		case "login":
			if current != nil {
				current.user = value
			}
			i++
		case "password":
			if current != nil {
				current.password = value
			}
			i++
		case "account":
			i++
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

// withoutMacros returns the text without the macros of ftp, which end with an empty line, and
// without comments.
func withoutMacros(text string) string {
	var kept []string
	inMacro := false
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "macdef"):
			inMacro = true
		case inMacro:
			inMacro = trimmed != ""
		case !strings.HasPrefix(trimmed, "#"):
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
