package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// The formats that Write knows.
const (
	JSON = "json"
	YAML = "yaml"
)

// Formats lists the formats that Write knows.
func Formats() []string { return []string{JSON, YAML} }

// Write writes a value, whose fields have JSON names, in one of Formats. The two have the same fields.
func Write(w io.Writer, format string, value any) error {
	if format == YAML {
		text, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("writing the result as YAML: %w", err)
		}
		_, err = w.Write(text)
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
