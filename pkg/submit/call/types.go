package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Declared has the types that parameters are annotated with, in Python's words: str, int, float,
// bool, list, dict, None. A parameter without a type that check.py knows is missing.
type Declared map[string][]string

// Fit returns a copy of the arguments as the parameters' types want them: for a str, the text that
// was typed becomes a string, even if it is a number in JSON. JSON strings and the content of files
// stay as they are. A value that fits none of its parameter's types is an error; null, which Python
// programs pass for almost anything, always fits. So is a number that no float of Python holds. words are
// the values of --arg.
func (d Declared) Fit(kwargs map[string]json.RawMessage, words []string) (map[string]json.RawMessage, error) {
	fitting := maps.Clone(kwargs)
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		value, types := string(kwargs[name]), d[name]
		switch {
		case types == nil || value == "null" || fits(value, types):
		case !slices.Contains(types, "str"):
			return nil, fmt.Errorf("--arg %s: %s is declared as %s: %s", word, name, strings.Join(types, " | "), advice(name, text, types))
		case !strings.HasPrefix(text, "@"):
			var err error
			if fitting[name], err = quote(text); err != nil {
				return nil, err
			}
		}
		if number := tooLarge(fitting[name]); number != "" {
			return nil, fmt.Errorf(`--arg %s: Python would read the number %s as infinity, because it is too large for a float; for a text, put it in double quotes, as in '"%[2]s"'`, name, number)
		}
	}
	return fitting, nil
}

// tooLarge returns the first number of a JSON text that Python reads as infinity, "" if there is none. Whole
// numbers have any size there.
func tooLarge(value json.RawMessage) string {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil { // the end
			return ""
		}
		number, _ := token.(json.Number)
		if _, err := number.Float64(); strings.ContainsAny(number.String(), ".eE") && errors.Is(err, strconv.ErrRange) {
			return number.String()
		}
	}
}

// CheckInputs returns a LineError for the first value of a map's inputs that fits none of the types
// of its parameter. positional are the parameters that are filled by position. A parameter that may be a
// str gets any value: unlike on the command line, the quotes are there or not.
func (d Declared) CheckInputs(positional []string, values []Value) error {
	for _, v := range values {
		name := v.Name
		if name == "" && v.Position < len(positional) {
			name = positional[v.Position]
		}
		types := d[name]
		if types == nil || v.JSON == "null" || slices.Contains(types, "str") || fits(v.JSON, types) {
			continue
		}
		return &LineError{v.Line, fmt.Errorf("%s is declared as %s, and is %s: %s", name, strings.Join(types, " | "), v.JSON, inputAdvice(v.JSON, types))}
	}
	return nil
}

// inputAdvice says what to write in an input instead of a value that fits none of the types.
func inputAdvice(value string, types []string) string {
	text := value
	_ = json.Unmarshal([]byte(value), &text) // of a string, what is in the quotes
	for _, t := range types {
		if meant := meant(text, t); meant != "" {
			return "write " + meant
		}
	}
	return "write a value such as " + strings.Trim(examples()[types[0]], "'")
}

// kindOf returns what kind of value a JSON text is, by a character: its first, i for whole numbers, and a point for others.
func kindOf(value string) byte {
	switch first := value[0]; {
	case strings.IndexByte(`"[{tf`, first) >= 0, value == "null":
		return first
	case strings.ContainsAny(value, ".eE"):
		return '.'
	}
	return 'i'
}

// fits reports whether a JSON text is a value of one of the types. Python passes an int for a float.
func fits(value string, types []string) bool {
	has := func(name string) bool { return slices.Contains(types, name) }
	switch kindOf(value) {
	case '"':
		return has("str")
	case '[':
		return has("list")
	case '{':
		return has("dict")
	case 't', 'f':
		return has("bool")
	case 'i':
		return has("float") || has("int")
	}
	return has("float")
}

func examples() map[string]string {
	return map[string]string{"int": "3", "float": "0.1", "bool": "true", "list": "'[1, 2]'", "dict": `'{"a": 1}'`, "None": "null"}
}

// advice says what to type instead of a text that fits none of the types.
func advice(name, text string, types []string) string {
	if !isFinite(text) {
		return "JSON has no such number; a call from Python may pass it"
	}
	for _, t := range types {
		if meant := meant(text, t); meant != "" {
			return fmt.Sprintf("write --arg %s=%s", name, meant)
		}
	}
	return fmt.Sprintf("write a value such as --arg %s=%s", name, examples()[types[0]])
}

// meant returns a text in the form of a type, "" if it is none.
func meant(text, kind string) string {
	number := jsonNumber(text)
	switch whole, fraction, _ := strings.Cut(number, "."); {
	case kind == "bool" && slices.Contains([]string{"true", "yes", "on", "y", "1"}, strings.ToLower(text)):
		return "true"
	case kind == "bool" && slices.Contains([]string{"false", "no", "off", "n", "0"}, strings.ToLower(text)):
		return "false"
	case kind == "float":
		return number
	case kind == "int" && strings.Trim(fraction, "0") == "" && !strings.ContainsAny(number, "eE"):
		return whole
	case strings.EqualFold(text, "none"):
		return "null"
	}
	return ""
}
