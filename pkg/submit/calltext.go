package submit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

// maxCallText is the maximum size of a call text, in bytes.
const maxCallText = 1 << 10

// callText describes what a job calls, for people: train.py:train(epochs=3), train.py
// --epochs 3, python -m pkg.mod, or a command. It appears in manifests and in the store,
// so it hides values that may be secrets. pickled are the arguments of a pickled call.
func callText(r api.Request, c api.Call, pickled []call.Argument, inputs *api.Map) string {
	var text string
	switch c.Kind {
	case api.CallFunction:
		text = cmp.Or(c.File, c.Module) + ":" + c.Function + "(" + strings.Join(shownKWArgs(r, c), ", ") + ")"
	case api.CallPickle:
		text = callName(c) + "(" + strings.Join(shownPickled(r, pickled), ", ") + ")"
	case api.CallFile:
		text = strings.Join(append([]string{shellWord(c.File)}, shownArgs(r, c.Args)...), " ")
	case api.CallModule:
		text = strings.Join(append([]string{"python", "-m", c.Module}, shownArgs(r, c.Args)...), " ")
	case api.CallCommand:
		text = strings.Join(append([]string{shellWord(c.Args[0])}, shownArgs(r, c.Args[1:])...), " ")
	}
	if inputs != nil {
		text += fmt.Sprintf(" for each of %d inputs", inputs.Inputs)
	}
	return cutText(printable(text), maxCallText)
}

// shownKWArgs returns the arguments of a function, in the order in which they were given.
func shownKWArgs(r api.Request, c api.Call) []string {
	if r.HideArgs && len(r.KWArgs)+len(r.Known) > 0 {
		return []string{hidden}
	}
	var shown []string
	for _, word := range r.KWArgs {
		name, typed, _ := strings.Cut(word, "=")
		value := c.KWArgs[name]
		if strings.HasPrefix(typed, "@") {
			value = nil
		}
		shown = append(shown, shownArgument(name, value))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Known)) {
		shown = append(shown, shownArgument(name, c.KWArgs[name]))
	}
	for _, d := range c.Data {
		if d.Name != "" {
			shown = append(shown, d.Name+"="+withoutUsers(d.Source))
		}
	}
	return shown
}

func shownPickled(r api.Request, arguments []call.Argument) []string {
	if arguments == nil || r.HideArgs && len(arguments) > 0 {
		return []string{hidden}
	}
	var shown []string
	for _, a := range arguments {
		shown = append(shown, shownArgument(a.Name, a.Value))
	}
	return shown
}

// shownArgument returns an argument of a function. Its value is JSON, empty if it is not shown.
func shownArgument(name string, value json.RawMessage) string {
	text := withoutUsers(string(value))
	if text == "" || LooksSecret(name) || hasSecretInside(text) {
		text = hidden
	}
	return name + "=" + text
}

// hasSecretInside reports whether a JSON value contains a key that looks like the name of
// a secret, or a string that contains a secret.
func hasSecretInside(value string) bool {
	var parsed any
	if err := json.Unmarshal([]byte(value), &parsed); err != nil {
		return true
	}
	return isSecretInside(parsed)
}

func isSecretInside(value any) bool {
	switch v := value.(type) {
	case string:
		return hasSecret(v)
	case []any:
		return slices.ContainsFunc(v, isSecretInside)
	case map[string]any:
		for key, inner := range v {
			if LooksSecret(key) || isSecretInside(inner) {
				return true
			}
		}
	}
	return false
}

// shownArgs returns the arguments of a script, a module or a command.
func shownArgs(r api.Request, args []string) []string {
	if r.HideArgs && len(args) > 0 {
		return []string{hidden}
	}
	var shown []string
	hide := false // the value of the previous option
	for _, arg := range args {
		arg = withoutUsers(arg)
		isOption := strings.HasPrefix(arg, "-")
		name, _, assigned := strings.Cut(arg, "=")
		isSecret := LooksSecret(name)
		switch {
		case hide && arg == "--": // what follows is still the option's value
			shown = append(shown, arg)
			continue
		case hide:
			shown = append(shown, hidden)
		case assigned && (isSecret || hasSecret(arg)) && !hasSecret(name) && !strings.ContainsFunc(name, unicode.IsSpace):
			shown = append(shown, shellWord(name+"=")+hidden)
		case hasSecret(arg):
			shown = append(shown, hidden)
		default:
			shown = append(shown, shellWord(arg))
		}
		hide = isOption && !assigned && isSecret
	}
	return shown
}

// shellWord quotes a word that a shell would not take literally.
func shellWord(word string) string {
	switch {
	case lazyregexp.Of(plainWord).MatchString(word):
		return word
	case !strings.Contains(word, "'") && printable(word) == word:
		return "'" + word + "'"
	default:
		return strconv.Quote(word)
	}
}

const plainWord = `^[\w@%+=:,./~…-]+$`

// printable writes control characters, and bytes that are not text, as escapes.
func printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !unicode.IsPrint(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// cutText cuts a text to a number of bytes, including the mark at the cut.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len(hidden)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + hidden
}
