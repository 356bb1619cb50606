package deps

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Decode decodes the text of a file. A mistake is reported as FILE:LINE:COLUMN.
func Decode(text []byte, name string, into any) error {
	err := toml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), into)
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, column := decode.Position()
		return fmt.Errorf("%s:%d:%d: %s", name, row, column, strings.TrimPrefix(decode.Error(), "toml: "))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
