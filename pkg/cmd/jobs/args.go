package jobs

import (
	"encoding/json"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// hidden stands in the text of a call for what may be a secret, and for what was cut.
const hidden = "…"

// functionCall matches the text of a call of a function, up to its arguments. That of a pickled one has no file. In
// all other texts, a word with a parenthesis is quoted.
const functionCall = `^(?:[^ ('"]+:)?([^ ('":]+)\(`

// argument is one of a call. JSON is its value, nil if the text of the call hides it or cuts it.
type argument struct {
	name, text string
	json       json.RawMessage
}

// functionOf returns the name of the function that is called, and the text of its arguments; "" for any other call.
func functionOf(call string) (name, arguments string) {
	found := lazyregexp.Of(functionCall).FindStringSubmatch(call)
	if found == nil {
		return "", ""
	}
	return found[1], call[len(found[0]):]
}

// arguments returns the arguments of a function from the text of its call: train.py:train(lr=0.1, name="x").
func arguments(call string) []argument {
	_, rest := functionOf(call)
	var all []argument
	for {
		name, after, found := strings.Cut(rest, "=")
		if !found || strings.ContainsAny(name, " ,()") {
			return all
		}
		a := argument{name: name}
		decoder := json.NewDecoder(strings.NewReader(after))
		if decoder.Decode(&a.json) == nil && endsArgument(after[decoder.InputOffset():]) {
			a.text, after = string(a.json), after[decoder.InputOffset():]
		} else { // hidden, cut, or the source of data
			end := strings.IndexAny(after, ",)")
			if end < 0 {
				end = len(after)
			}
			a.text, a.json, after = after[:end], nil, after[end:]
		}
		all = append(all, a)
		rest = strings.TrimPrefix(after, ", ")
	}
}

// endsArgument reports whether what follows a value is the end of an argument.
func endsArgument(rest string) bool {
	return strings.HasPrefix(rest, ", ") || strings.HasPrefix(rest, ")")
}

// argumentText returns the arguments of a call as they are typed: lr=0.1 name=x, or the words after a script.
func argumentText(call string) string {
	if name, rest := functionOf(call); name == "" {
		_, words, _ := strings.Cut(strings.TrimPrefix(call, "python -m "), " ")
		return words
	} else if strings.HasPrefix(rest, hidden) {
		return hidden
	}
	var words []string
	for _, a := range arguments(call) {
		words = append(words, a.name+"="+a.typed())
	}
	return strings.Join(words, " ")
}

// typed returns a value without the quotes of a string that reads the same without them.
func (a argument) typed() string {
	var s string
	if json.Unmarshal(a.json, &s) == nil && s != "" && !strings.ContainsAny(s, " \"\\\t\n") {
		return s
	}
	return a.text
}

// argumentValues returns the values of a function's arguments, nil if there are none. A value that is not known is null.
func argumentValues(call string) map[string]json.RawMessage {
	var values map[string]json.RawMessage
	for _, a := range arguments(call) {
		if values == nil {
			values = map[string]json.RawMessage{}
		}
		values[a.name] = a.json
		if a.json == nil {
			values[a.name] = json.RawMessage("null")
		}
	}
	return values
}
