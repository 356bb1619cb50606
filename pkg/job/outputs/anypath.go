package outputs

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// anyPath is a path as a file system has it: its bytes need not be UTF-8. In JSON, each byte that is not is a lone surrogate, as
// in Python: U+DC80 to U+DCFF.
type anyPath string

// escapes matches the escapes of JSON: lone surrogates that stand for a byte have a group, and pairs are one match.
const escapes = `\\(?:u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|u[dD][cC]([89a-fA-F][[:xdigit:]])|.)`

// UnmarshalJSON implements json.Unmarshaler.
func (p *anyPath) UnmarshalJSON(data []byte) error {
	var found string
	if err := json.Unmarshal(data, &found); err != nil {
		return err
	}
	*p = anyPath(found)
	if !strings.ContainsRune(found, utf8.RuneError) {
		return nil
	}
	// The text is taken apart at the lone surrogates: the other parts are JSON, too.
	found, data = "", data[1:len(data)-1]
	begin := 0
	for _, at := range lazyregexp.Of(escapes).FindAllSubmatchIndex(data, -1) {
		if at[2] < 0 {
			continue
		}
		found += unquoted(data[begin:at[0]])
		b, _ := strconv.ParseUint(string(data[at[2]:at[3]]), 16, 8) // two hexadecimal digits
		found += string([]byte{byte(b)})
		begin = at[1]
	}
	*p = anyPath(found + unquoted(data[begin:]))
	return nil
}

// unquoted returns the text of a part of a JSON string.
func unquoted(part []byte) (text string) {
	_ = json.Unmarshal([]byte(`"`+string(part)+`"`), &text) // it is part of what was read already
	return text
}

// MarshalJSON implements json.Marshaler.
func (p anyPath) MarshalJSON() ([]byte, error) {
	text := []byte{'"'}
	for rest := string(p); rest != ""; {
		valid := validPart(rest)
		part, err := json.Marshal(valid)
		if err != nil {
			return nil, err
		}
		text = append(text, part[1:len(part)-1]...)
		if rest = rest[len(valid):]; rest != "" {
			text = fmt.Appendf(text, `\udc%02x`, rest[0])
			rest = rest[1:]
		}
	}
	return append(text, '"'), nil
}

// validPart returns what is before the first byte of a text that is not UTF-8.
func validPart(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	i := 0
	for r, size := utf8.DecodeRuneInString(text); r != utf8.RuneError || size != 1; r, size = utf8.DecodeRuneInString(text[i:]) {
		i += size
	}
	return text[:i]
}
