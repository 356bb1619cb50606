package call

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// parseKWArgs reads the values of --arg. Numbers keep their text, whatever their size. The
// second result is warnings.
func parseKWArgs(words []string, cwd string) (map[string]json.RawMessage, []string, error) {
	kwargs := make(map[string]json.RawMessage, len(words))
	var warnings []string
	for _, word := range words {
		name, text, found := strings.Cut(word, "=")
		switch {
		case !found:
			return nil, nil, fmt.Errorf("--arg %s: expected NAME=VALUE, as in --arg epochs=3", word)
		case !isIdentifier(name):
			return nil, nil, fmt.Errorf("--arg %s: %q is not a Python parameter name", word, name)
		case kwargs[name] != nil:
			return nil, nil, fmt.Errorf("--arg %s: %s given twice", word, name)
		}
		value, warning, err := parseValue(text, cwd)
		if err != nil {
			return nil, nil, fmt.Errorf("--arg %s: %w", name, err)
		}
		if warning != "" {
			warnings = append(warnings, fmt.Sprintf("--arg %s: %s", name, warning))
		}
		kwargs[name] = value
	}
	return kwargs, warnings, nil
}

// parseValue returns the JSON of one value: the content of a file after @, the text itself
// if it is JSON, or else the text as a JSON string.
func parseValue(text, cwd string) (value json.RawMessage, warning string, err error) {
	if file, found := strings.CutPrefix(text, "@"); found {
		value, err = readValue(file, cwd)
		return value, "", err
	}
	if !utf8.ValidString(text) {
		return nil, "", errors.New("the value is not UTF-8: put it into a file and pass the file's name")
	}
	if value, err = compact([]byte(text)); err == nil {
		return value, "", nil
	}
	value, err = quote(text)
	return value, surprise(text, value), err
}

// readValue reads a file that must hold one JSON value.
func readValue(file, cwd string) (json.RawMessage, error) {
	if file == "" {
		return nil, fmt.Errorf(`name a JSON file after @; for the text "@" itself, use '"@"'`)
	}
	data, err := os.ReadFile(absolute(file, cwd))
	if err != nil {
		return nil, fmt.Errorf(`reading the value: %w; @ names a JSON file; for the text itself, use '"@%s"'`, err, file)
	}
	// Editors on Windows write a byte order mark first.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s is not UTF-8, as JSON must be", file)
	}
	value, err := compact(data)
	if err != nil {
		line, column := position(data, err)
		return nil, fmt.Errorf("%s, line %d, column %d: not JSON: %w", file, line, column, err)
	}
	return value, nil
}

// compact only removes the insignificant blanks of a JSON text.
func compact(data []byte) (json.RawMessage, error) {
	// Unmarshal comes first, because Compact's error does not say at which byte it failed.
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// quote returns the JSON of a string, without the escapes meant for HTML.
func quote(text string) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// position returns where data stops being JSON. Both numbers count from 1, the column in
// characters.
func position(data []byte, err error) (line, column int) {
	before := data
	// Offset counts the bytes read, including the wrong one; at an unexpected end there is
	// no wrong byte.
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Offset >= 1 && syntax.Offset <= int64(len(data)) && !strings.Contains(syntax.Error(), "end of JSON") {
		before = data[:syntax.Offset-1]
	}
	line = bytes.Count(before, []byte("\n")) + 1
	lastLine := before[bytes.LastIndexByte(before, '\n')+1:]
	return line, utf8.RuneCount(lastLine) + 1
}

// surprise returns a warning if a text became a string but hardly looks like one. The
// string "False" is true in Python.
func surprise(text string, value json.RawMessage) string {
	// pythonWords are Python's constants in JSON's spelling.
	pythonWords := map[string]string{"True": "true", "False": "false", "None": "null"}
	if right := pythonWords[text]; right != "" {
		return fmt.Sprintf("%s is passed as a string: in JSON it is %s", value, right)
	}
	if right := jsonNumber(text); right != "" {
		return fmt.Sprintf("%s is passed as a string: for a number, write %s", value, right)
	}
	if !isFinite(text) {
		return fmt.Sprintf("%s is passed as a string: JSON has no such number", value)
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return fmt.Sprintf("%s is not JSON, so it is passed as a string", text)
	}
	return ""
}

// isFinite reports whether a text is none of Python's numbers that JSON lacks.
func isFinite(text string) bool {
	return !slices.Contains([]string{"nan", "inf", "infinity"}, strings.ToLower(strings.TrimLeft(text, "+-")))
}

// pythonNumber matches a number that Python reads and JSON does not: .5, 5., +1, 1_000.
const pythonNumber = `^([+-]?)((?:\d+(?:_\d+)*)?)(\.?)((?:\d+(?:_\d+)*)?)((?:[eE][+-]?\d+)?)$`

// jsonNumber returns a Python number in JSON's spelling, "" for other texts.
func jsonNumber(text string) string {
	parts := lazyregexp.Of(pythonNumber).FindStringSubmatch(text)
	if parts == nil || parts[2]+parts[4] == "" {
		return ""
	}
	number := strings.TrimPrefix(parts[1], "+") + cmp.Or(parts[2], "0")
	if parts[3] != "" {
		number += "." + cmp.Or(parts[4], "0")
	}
	number = strings.ReplaceAll(number+parts[5], "_", "")
	if !json.Valid([]byte(number)) { // 007 is more likely a name
		return ""
	}
	return number
}
