package records

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Result reads a result. The result's value, which may be large, is written to value as
// JSON while it is read.
func Result(ctx context.Context, s store.Store, name string, value io.Writer) (api.Result, error) {
	return readResult(ctx, s, name, func(r io.ByteReader) ([]byte, error) { return splitValue(r, value) })
}

// ResultHead reads a result without its value, which the runner writes last.
func ResultHead(ctx context.Context, s store.Store, name string) (api.Result, error) {
	return readResult(ctx, s, name, headOfResult)
}

func readResult(ctx context.Context, s store.Store, name string, read func(io.ByteReader) ([]byte, error)) (r api.Result, err error) {
	object, err := s.Open(ctx, name)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	head, err := read(bufio.NewReaderSize(object, 64<<10))
	if err != nil {
		return r, fmt.Errorf("reading %s/%s: %w", s.URL(), name, err)
	}
	if r, err = decodeResult(head); err != nil {
		return r, fmt.Errorf("reading %s/%s: %w", s.URL(), name, err)
	}
	return r, nil
}

func decodeResult(head []byte) (r api.Result, err error) {
	err = json.Unmarshal(head, &r)
	if r.Version > api.EndVersion { // also if another version has other members
		return r, &api.VersionError{Got: r.Version, Max: api.EndVersion}
	}
	return r, err
}

// splitter reads a JSON object byte by byte and separates the value of its member "value"
// from the rest.
type splitter struct {
	head      bytes.Buffer // the object, with null for the value
	value     *bufio.Writer
	depth     int
	inString  bool
	escaped   bool
	wantsKey  bool
	key       []byte
	diverting bool
}

// splitValue writes the member "value" of the object to value and returns the rest of the
// object. What precedes the value must be a result that this version can read; whoever decodes
// the rest checks that it is JSON.
func splitValue(r io.ByteReader, value io.Writer) ([]byte, error) {
	s := splitter{value: bufio.NewWriterSize(value, 64<<10)}
	if err := s.read(r, func() bool { return s.diverting }); err != nil {
		return nil, err
	}
	if s.diverting {
		if _, err := decodeResult(append(slices.Clone(s.head.Bytes()), '}')); err != nil {
			return nil, err
		}
	}
	if err := s.read(r, func() bool { return false }); err != nil {
		return nil, err
	}
	return s.head.Bytes(), s.value.Flush()
}

// headOfResult returns the object up to its member "value", and reads no further.
func headOfResult(r io.ByteReader) ([]byte, error) {
	s := splitter{value: bufio.NewWriter(io.Discard)}
	err := s.read(r, func() bool { return s.diverting })
	if s.diverting {
		s.head.WriteByte('}')
	}
	return s.head.Bytes(), err
}

// read reads the object to its end, or until enough returns true.
func (s *splitter) read(r io.ByteReader, enough func() bool) error {
	for !enough() {
		c, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			if s.depth != 0 || s.inString {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.next(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *splitter) next(c byte) error {
	if s.inString {
		s.stringByte(c)
		return s.put(c)
	}
	switch c {
	case '"':
		s.inString = true
		s.key = s.key[:0]
	case '{', '[':
		s.depth++
		s.wantsKey = s.depth == 1
	case '}', ']':
		s.depth--
		s.divert(s.depth > 0 && s.diverting)
	case ',':
		s.divert(s.depth > 1 && s.diverting)
		s.wantsKey = s.depth == 1
	case ':':
		if s.depth == 1 && s.wantsKey {
			s.wantsKey = false
			s.head.WriteByte(c)
			s.divert(string(s.key) == "value")
			return nil
		}
	case ' ', '\n', '\r', '\t':
		if s.diverting && s.depth == 1 {
			return nil // around the value, not in it
		}
	}
	return s.put(c)
}

func (s *splitter) stringByte(c byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inString = false
		return
	}
	if s.depth == 1 && s.wantsKey {
		s.key = append(s.key, c)
	}
}

// divert starts or stops writing to value. The head gets null instead.
func (s *splitter) divert(on bool) {
	if on && !s.diverting {
		s.head.WriteString("null")
	}
	s.diverting = on
}

func (s *splitter) put(c byte) error {
	if s.diverting {
		return s.value.WriteByte(c)
	}
	return s.head.WriteByte(c)
}
