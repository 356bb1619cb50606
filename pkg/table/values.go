package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// values reads JSON value by value, as it comes. For thousands of rows of short texts,
// encoding/json takes several times as long. The server is trusted to send valid JSON: some mistakes
// are not noticed.
type values struct {
	in    *bufio.Reader
	value []byte // what next returns
}

func newValues(r io.Reader) *values { return &values{in: bufio.NewReaderSize(r, 64<<10)} }

// object reads an object, or null. It calls each at every field, which must read the value.
func (v *values) object(each func(field string) error) error {
	return v.group('{', '}', func() error {
		name, err := v.next()
		if err != nil {
			return err
		}
		if c, err := v.skipSpace(); err != nil || c != ':' {
			return unexpected(c, err)
		}
		return each(text(name))
	})
}

// array reads an array, or null. It calls each at every element, which must read it.
func (v *values) array(each func() error) error { return v.group('[', ']', each) }

// group reads the values between two bytes, or null.
func (v *values) group(opening, closing byte, each func() error) error {
	switch c, err := v.skipSpace(); {
	case err == nil && c == 'n':
		return v.endNull()
	case err != nil || c != opening:
		return unexpected(c, err)
	}
	for {
		c, err := v.skipSpace()
		switch {
		case err != nil || c == closing:
			return err
		case c == ',':
			continue
		}
		if err := v.in.UnreadByte(); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// endNull reads the rest of null.
func (v *values) endNull() error {
	rest, err := v.next()
	if err == nil && string(rest) != "ull" {
		return fmt.Errorf("unexpected %q", "n"+string(rest))
	}
	return err
}

// decode reads the next value into a variable.
func (v *values) decode(into any) error {
	value, err := v.next()
	if err != nil {
		return err
	}
	return json.Unmarshal(value, into)
}

// next returns the text of the next value. It is valid until the next call.
func (v *values) next() ([]byte, error) {
	c, err := v.skipSpace()
	v.value = v.value[:0]
	for depth := 0; err == nil; c, err = v.in.ReadByte() {
		v.value = append(v.value, c)
		switch c {
		case '"':
			err = v.endString()
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if err == nil && depth == 0 && v.ended(c) {
			return v.value, nil
		}
		if err != nil || depth < 0 {
			return nil, unexpected(c, err)
		}
	}
	return nil, err
}

// endString reads the rest of a string.
func (v *values) endString() error {
	for {
		part, err := v.in.ReadSlice('"')
		v.value = append(v.value, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return err
		case !escaped(v.value):
			return nil
		}
	}
}

// escaped reports whether the last byte of a text follows an odd number of backslashes.
func escaped(text []byte) bool {
	last := len(text) - 1
	return (last-len(bytes.TrimRight(text[:last], `\`)))%2 == 1
}

// ended reports whether a value ends with its last byte, c: a number or a word ends where
// something else begins.
func (v *values) ended(c byte) bool {
	if bytes.IndexByte([]byte(`"}]`), c) >= 0 {
		return true
	}
	following, err := v.in.Peek(1)
	return err != nil || bytes.IndexByte([]byte(",:}] \t\r\n"), following[0]) >= 0
}

// skipSpace returns the next byte that is not white space.
func (v *values) skipSpace() (byte, error) {
	for {
		c, err := v.in.ReadByte()
		if err != nil || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, err
		}
	}
}

// unexpected returns the error for a byte that is out of place, or the one that came instead.
func unexpected(c byte, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("unexpected %q", c)
}

// text returns the text of a value, "" if that is no string.
func text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}
