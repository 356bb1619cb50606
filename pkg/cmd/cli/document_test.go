package cli

import (
	"errors"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	value := struct {
		Name string   `json:"name"`
		Of   *float64 `json:"of"`
	}{Name: "a<b"}
	for format, want := range map[string]string{
		JSON: "{\n  \"name\": \"a<b\",\n  \"of\": null\n}\n",
		YAML: "name: a<b\nof: null\n",
	} {
		var out strings.Builder
		if err := Write(&out, format, value); err != nil || out.String() != want {
			t.Errorf("%s: got %q, %v, want %q", format, &out, err, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteFails(t *testing.T) {
	for _, format := range Formats() {
		if err := Write(full{}, format, 1); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: got %v", format, err)
		}
	}
}
