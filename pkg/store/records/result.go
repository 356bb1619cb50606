package records

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// members are those of a result, with null for its value.
type members map[string]json.RawMessage

// Result reads a result. The result's value, which may be large, is written to value as
// JSON while it is read.
func Result(ctx context.Context, s store.Store, name string, value io.Writer) (api.Result, error) {
	return readResult(ctx, s, name, func(m members, r io.Reader) error { return m.split(r, value) })
}

// ResultHead reads a result without its value, which the runner writes last.
func ResultHead(ctx context.Context, s store.Store, name string) (api.Result, error) {
	return readResult(ctx, s, name, func(m members, r io.Reader) error {
		_, err := m.read(r)
		return err
	})
}

func readResult(ctx context.Context, s store.Store, name string, read func(members, io.Reader) error) (r api.Result, err error) {
	object, err := s.Open(ctx, name)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	head := members{}
	if err = read(head, bufio.NewReaderSize(object, 64<<10)); err == nil {
		r, err = head.result()
	}
	if err != nil {
		return r, fmt.Errorf("reading %s/%s: %w", s.URL(), name, err)
	}
	return r, nil
}

func (m members) result() (r api.Result, err error) {
	text, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if r.Version > api.EndVersion { // also if another version has other members
		return r, &api.VersionError{Got: r.Version, Max: api.EndVersion}
	}
	return r, err
}

// split reads an object and writes its value to value. What precedes the value must be a result that
// this version can read.
func (m members) split(r io.Reader, value io.Writer) error {
	to := bufio.NewWriterSize(value, 64<<10)
	for {
		rest, err := m.read(r)
		if err != nil || rest == nil {
			return errors.Join(err, to.Flush())
		}
		if _, err := m.result(); err != nil {
			return err
		}
		next, err := copyValue(to, rest)
		if err != nil {
			return err
		}
		r = io.MultiReader(strings.NewReader("{"+next), rest)
	}
}

// read adds the members of an object up to "value". It returns what follows that name, nil without a value.
func (m members) read(r io.Reader) (*bufio.Reader, error) {
	d := json.NewDecoder(r)
	_, err := d.Token()
	for err == nil && d.More() {
		var token json.Token
		if token, err = d.Token(); token == "value" {
			m["value"] = json.RawMessage("null")
			return bufio.NewReader(io.MultiReader(d.Buffered(), r)), nil
		}
		var member json.RawMessage
		err = cmp.Or(err, d.Decode(&member))
		m[fmt.Sprint(token)] = member
	}
	if err == nil {
		_, err = d.Token()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// copyValue copies the value that follows a name. It returns "}" if the object ends with it.
func copyValue(to *bufio.Writer, r io.ByteReader) (end string, err error) {
	depth, quoted, escaped := 0, false, false
	for {
		c, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", err
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case depth == 0 && strings.IndexByte(": \n\r\t", c) >= 0:
			continue // around the value, not in it
		case depth == 0 && (c == ',' || c == '}'):
			return strings.Trim(string(c), ","), nil
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if err := to.WriteByte(c); err != nil {
			return "", err
		}
	}
}
