package call

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// maxInput limits one line of a map's inputs, in bytes: the runner holds a chunk of lines
// in memory.
const maxInput = 16 << 20

// Inputs describes the inputs of a map, without keeping the inputs.
type Inputs struct {
	// Count is the number of inputs.
	Count int
	// SHA256 and Size are of the lines that ReadInputs wrote.
	SHA256 string
	Size   int64
	// Other is the first line that is not a pickle, in base64 and as a JSON string; 0 if all are.
	Other int
	// Forms are the ways in which inputs pass their arguments, in the order of their first
	// lines. It has the first thousand at most.
	Forms []Form
	// Values are the kinds of values that inputs pass for each argument, in the order of their
	// first lines. It has the first thousand at most.
	Values []Value
}

// OneList says that the only input is a list of objects, each of which may be meant as an input; "" if it is not.
func (in Inputs) OneList() string {
	isOther := func(v Value) bool { return v.JSON[0] != '{' }
	if in.Count != 1 || in.Forms[0].Positional < 2 || slices.ContainsFunc(in.Values, isOther) {
		return ""
	}
	return fmt.Sprintf("line 1 is a list, so it is one call with %d arguments; for one call per object, write one object per line (jq -c '.[]')", in.Forms[0].Positional)
}

// maxForms limits how many ways to call a function, and how many kinds of values, are checked
// on this machine.
const maxForms = 1000

// Form says which arguments an input passes.
type Form struct {
	// Line is the first line with this form, counted from 1.
	Line int
	// Names are the arguments passed by name, sorted. Positional is the number of arguments
	// passed by position.
	Names      []string
	Positional int
}

// Value is a value of an argument, the first of its kind.
type Value struct {
	// Line is where it is, counted from 1.
	Line int
	// Name is the argument's name, "" if it is passed by position, which is counted from 0.
	Name     string
	Position int
	// JSON is the value; its beginning and … if it is long.
	JSON string
}

// seen has the forms and the kinds of values of the lines before.
type seen struct {
	forms  map[string]bool
	values map[kindOfValue]bool
}

type kindOfValue struct {
	name     string
	position int
	kind     byte
}

// LineError is an error in one input.
type LineError struct {
	// Line is counted from 1.
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// ReadInputs reads JSON lines and writes them without insignificant blanks, each ending in
// a newline. An object has a call's arguments by name, an array has them by position, and
// anything else is the only argument. An error in an input is a LineError.
func ReadInputs(r io.Reader, w io.Writer) (Inputs, error) {
	hash := sha256.New()
	var in Inputs
	before := seen{map[string]bool{}, map[kindOfValue]bool{}}
	out := io.MultiWriter(hash, w)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxInput)
	for lines.Scan() {
		line, err := in.add(lines.Bytes(), before)
		if err != nil {
			return in, &LineError{in.Count + 1, err}
		}
		if _, err := out.Write(line); err != nil {
			return in, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return in, &LineError{in.Count + 1, fmt.Errorf("more than %d MiB, too large for an input: put large data into files of the project or into the store, and pass their names", maxInput>>20)}
	case err != nil:
		return in, err
	case in.Count == 0:
		return in, errors.New("no inputs: expected one JSON value per line")
	}
	in.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return in, nil
}

// add checks one line and returns it as it is to be written. before has the forms seen so
// far, and the kinds of values.
func (in *Inputs) add(line []byte, before seen) ([]byte, error) {
	if in.Count == 0 {
		line = bytes.TrimPrefix(line, []byte("\ufeff")) // written by editors on Windows
	}
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return nil, errors.New("empty line: every line must be a JSON value")
	case !utf8.Valid(line):
		return nil, errors.New("not UTF-8, as JSON must be")
	}
	value, err := compact(line)
	if err != nil {
		return nil, notJSON(line, err)
	}
	named, err := members(value)
	if err != nil {
		return nil, err
	}
	if in.Size += int64(len(value)) + 1; in.Size > api.Contract.Limits.Call {
		return nil, fmt.Errorf("the inputs take more than %d MiB: put large data into files of the project or into the store, and pass their names", api.Contract.Limits.Call>>20)
	}
	in.Count++
	if in.Other == 0 && !isPickle(value) {
		in.Other = in.Count
	}
	places := positional(value)
	names := slices.Sorted(maps.Keys(named))
	if key := fmt.Sprintf("%d %q", len(places), names); !before.forms[key] && len(before.forms) < maxForms {
		before.forms[key] = true
		in.Forms = append(in.Forms, Form{in.Count, names, len(places)})
	}
	for _, name := range names {
		in.note(Value{Line: in.Count, Name: name}, named[name], before)
	}
	for i, value := range places {
		in.note(Value{Line: in.Count, Position: i}, value, before)
	}
	return append(value, '\n'), nil
}

// note adds a value if it is the first of its kind.
func (in *Inputs) note(v Value, value json.RawMessage, before seen) {
	kind := kindOfValue{v.Name, v.Position, kindOf(string(value))}
	if before.values[kind] || len(before.values) >= maxForms {
		return
	}
	before.values[kind] = true
	const shown = 60
	if v.JSON = string(value); len(v.JSON) > shown {
		v.JSON = strings.ToValidUTF8(v.JSON[:shown], "") + "…"
	}
	in.Values = append(in.Values, v)
}

// isPickle reports whether an input is a pickle, in base64.
func isPickle(value json.RawMessage) bool {
	var text string
	if value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return false
	}
	pickle, err := base64.StdEncoding.DecodeString(text)
	return err == nil && len(pickle) > 0 && pickle[0] == 0x80
}

// notJSON says where a line is not JSON, which err says in the words of Go.
func notJSON(line []byte, err error) error {
	if cut := json.NewDecoder(bytes.NewReader(line)).Decode(new(json.RawMessage)); errors.Is(cut, io.ErrUnexpectedEOF) {
		return errors.New("not JSON: the line ends before its value does: a quote, bracket or brace may not be closed")
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset < 1 || syntax.Offset > int64(len(line)) {
		return fmt.Errorf("not JSON: %w", err)
	}
	before, rest := line[:syntax.Offset-1], line[syntax.Offset-1:]
	found, _ := utf8.DecodeRune(rest)
	return fmt.Errorf("not JSON: unexpected %q at character %d: expected one JSON value per line, such as {\"name\": 1}",
		string(found), utf8.RuneCount(before)+1)
}

// members returns the members of an object, which are arguments by name; nil for other values.
func members(value json.RawMessage) (map[string]json.RawMessage, error) {
	if value[0] != '{' {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	_, err := decoder.Token()
	named := map[string]json.RawMessage{}
	for err == nil && decoder.More() {
		var key json.Token
		if key, err = decoder.Token(); err != nil {
			break
		}
		name := fmt.Sprint(key)
		if _, twice := named[name]; twice {
			return nil, fmt.Errorf("argument %s given twice", name)
		}
		var member json.RawMessage
		err = decoder.Decode(&member)
		named[name] = member
	}
	return named, err
}

// positional returns the arguments that an input passes by position.
func positional(value json.RawMessage) []json.RawMessage {
	var array []json.RawMessage
	switch {
	case value[0] == '{':
		return nil
	case value[0] == '[' && json.Unmarshal(value, &array) == nil:
		return array
	}
	return []json.RawMessage{value}
}
