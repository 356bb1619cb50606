package call

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Inputs are those of a map.
type Inputs struct {
	// Lines are JSON values without blanks around or in them, each ended by a
	// newline.
	Lines []byte
	Count int
	// Names are the arguments that the first input passes by name, Positional how
	// many it passes by their place.
	Names      []string
	Positional int
}

// ReadInputs reads JSON lines. An object is the arguments of a call by name, an
// array those by place, anything else the only one. An error tells the line.
func ReadInputs(r io.Reader) (Inputs, error) {
	var in Inputs
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return in, err
		}
		if last := err != nil; last && len(line) == 0 {
			break
		}
		if err := in.add(line); err != nil {
			return in, fmt.Errorf("line %d: %w", in.Count+1, err)
		}
	}
	if in.Count == 0 {
		return in, errors.New("there is no input in it: want a JSON value a line")
	}
	return in, nil
}

// add takes one line in.
func (in *Inputs) add(line []byte) error {
	if in.Count == 0 {
		line = bytes.TrimPrefix(line, []byte("\ufeff")) // as editors on Windows write it
	}
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return errors.New("it is empty, and each line is an input")
	case !utf8.Valid(line):
		return errors.New("it is not UTF-8, as JSON must be")
	}
	value, err := compact(line)
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if len(in.Lines)+len(value) >= api.MaxCallBytes {
		return fmt.Errorf("the inputs take more than %d MiB: put large data into files of the project, or into the store, and pass their names", api.MaxCallBytes>>20)
	}
	if in.Count == 0 {
		in.describe(value)
	}
	in.Lines = append(append(in.Lines, value...), '\n')
	in.Count++
	return nil
}

// describe tells how an input is passed.
func (in *Inputs) describe(value json.RawMessage) {
	var object map[string]json.RawMessage
	var array []json.RawMessage
	switch {
	case value[0] == '{' && json.Unmarshal(value, &object) == nil:
		for name := range object {
			in.Names = append(in.Names, name)
		}
	case value[0] == '[' && json.Unmarshal(value, &array) == nil:
		in.Positional = len(array)
	default:
		in.Positional = 1
	}
}
