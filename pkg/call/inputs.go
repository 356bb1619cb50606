package call

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// maxInput bounds a line of a map's inputs, in bytes: the runner has a chunk of
// them in memory.
const maxInput = 16 << 20

// Inputs is what there is to know of the inputs of a map, of which none is kept.
type Inputs struct {
	// Count is how many there are.
	Count int
	// SHA256 and Size are those of the lines that ReadInputs has written.
	SHA256 string
	Size   int64
	// Names are the arguments that the first input passes by name, Positional how
	// many it passes by their place.
	Names      []string
	Positional int
}

// ReadInputs reads JSON lines and writes them without blanks around or in them,
// each ended by a newline. An object is the arguments of a call by name, an array
// those by place, anything else the only one. An error tells the line.
func ReadInputs(r io.Reader, w io.Writer) (Inputs, error) {
	hash := sha256.New()
	var in Inputs
	out := io.MultiWriter(hash, w)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxInput)
	for lines.Scan() {
		line, err := in.add(lines.Bytes())
		if err != nil {
			return in, fmt.Errorf("line %d: %w", in.Count+1, err)
		}
		if _, err := out.Write(line); err != nil {
			return in, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return in, fmt.Errorf("line %d: it has more than %d MiB, which is too long for an input: put large data into files of the project, or into the store, and pass their names", in.Count+1, maxInput>>20)
	case err != nil:
		return in, err
	case in.Count == 0:
		return in, errors.New("there is no input in it: want a JSON value a line")
	}
	in.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return in, nil
}

// add checks one line, and returns it as it is written.
func (in *Inputs) add(line []byte) ([]byte, error) {
	if in.Count == 0 {
		line = bytes.TrimPrefix(line, []byte("\ufeff")) // as editors on Windows write it
	}
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return nil, errors.New("it is empty, and each line is an input")
	case !utf8.Valid(line):
		return nil, errors.New("it is not UTF-8, as JSON must be")
	}
	value, err := compact(line)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	names, err := namesIn(value)
	if err != nil {
		return nil, err
	}
	if in.Size += int64(len(value)) + 1; in.Size > api.MaxCallBytes {
		return nil, fmt.Errorf("the inputs take more than %d MiB: put large data into files of the project, or into the store, and pass their names", api.MaxCallBytes>>20)
	}
	if in.Count == 0 {
		in.Names, in.Positional = names, positional(value)
	}
	in.Count++
	return append(value, '\n'), nil
}

// namesIn are the members of an object, which are names of arguments; nil for
// other values.
func namesIn(value json.RawMessage) ([]string, error) {
	if value[0] != '{' {
		return nil, nil
	}
	members := json.NewDecoder(bytes.NewReader(value))
	_, err := members.Token()
	seen := map[string]bool{}
	var names []string
	for err == nil && members.More() {
		var key json.Token
		if key, err = members.Token(); err != nil {
			break
		}
		name := fmt.Sprint(key)
		if seen[name] {
			return nil, fmt.Errorf("it has the argument %s twice", name)
		}
		seen[name] = true
		names = append(names, name)
		var skipped json.RawMessage
		err = members.Decode(&skipped)
	}
	return names, err
}

// positional is how many arguments an input passes by their place.
func positional(value json.RawMessage) int {
	var array []json.RawMessage
	switch {
	case value[0] == '{':
		return 0
	case value[0] == '[' && json.Unmarshal(value, &array) == nil:
		return len(array)
	}
	return 1
}
