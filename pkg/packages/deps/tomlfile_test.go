package deps

import (
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	var got struct{ Name string }
	if err := Decode([]byte("\ufeffname = 'x'\nother = 1\n"), "a.toml", &got); err != nil || got.Name != "x" {
		t.Errorf("got %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"name = 'x'\n y = ":  "a.toml:2:",
		"name = 1":           "a.toml:1:8: ",
		"name = 'x'\nname=1": "a.toml:2:1: ",
		"\xff":               "a.toml:",
	} {
		if err := Decode([]byte(text), "a.toml", &got); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "toml: ") {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
