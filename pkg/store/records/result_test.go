package records

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestSplitValue(t *testing.T) {
	tests := map[string]struct{ doc, head, value string }{
		"a number":               {`{"version":1,"value":12,"ok":true}`, `{"version":1,"value":null,"ok":true}`, `12`},
		"the last member":        {`{"ok":true,"value":[1,{"a":"]}"}]}`, `{"ok":true,"value":null}`, `[1,{"a":"]}"}]`},
		"blanks around it":       {"{ \"value\" :  {\"a\": 1} ,\n\"ok\":true}\n", "{ \"value\" :null,\n\"ok\":true}\n", `{"a": 1}`},
		"quotes in a string":     {`{"value":"a\"},{\\","ok":true}`, `{"value":null,"ok":true}`, `"a\"},{\\"`},
		"values deeper down":     {`{"error":{"value":1},"x":[{"value":2}],"value":3}`, `{"error":{"value":1},"x":[{"value":2}],"value":null}`, `3`},
		"a text that says value": {`{"a":"value","b":"\"value\":1","value":null}`, `{"a":"value","b":"\"value\":1","value":null}`, `null`},
		"none":                   {`{"ok":false}`, `{"ok":false}`, ``},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var value bytes.Buffer
			head, err := splitValue(strings.NewReader(tt.doc), &value)
			if err != nil || string(head) != tt.head || value.String() != tt.value {
				t.Errorf("got head %s, value %s, %v", head, &value, err)
			}
		})
	}
	for _, doc := range []string{`{"value":[1,2`, `{"value":"abc`, `{"ok":true`} {
		if _, err := splitValue(strings.NewReader(doc), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: torn, and no error", doc)
		}
	}
}

// Nothing of the value is written if it is of a version that this one can't read.
func TestSplitValueOfANewerVersion(t *testing.T) {
	var value bytes.Buffer
	var newer *api.VersionError
	_, err := splitValue(strings.NewReader(`{"version":99,"error":7,"value":[1,2]}`), &value)
	if !errors.As(err, &newer) || newer.Got != 99 || value.Len() > 0 {
		t.Errorf("wrote %q, %v", &value, err)
	}
}

// The head is all that a runner writes in front of the value.
func TestHeadOfResult(t *testing.T) {
	for doc, want := range map[string]string{
		`{"ok":true,"error":null,"value":[1,{"a":"`:       `{"ok":true,"error":null,"value":null}`,
		`{"ok":true,"error":{"value":1},"value":{"b":2}}`: `{"ok":true,"error":{"value":1},"value":null}`,
		"{\"ok\":false}\n": "{\"ok\":false}\n",
	} {
		if got, err := headOfResult(strings.NewReader(doc)); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", doc, got, err)
		}
	}
	if _, err := headOfResult(strings.NewReader(`{"ok":tr`)); err == nil {
		t.Error("torn, and no error")
	}
}

// What it takes apart is what encoding/json reads.
func FuzzSplitValue(f *testing.F) {
	for _, s := range []string{`{"value":{"a":[1,"}\""]},"ok":true}`, `{"a":{"value":1}}`, `{"value":" x "}`, `{"\u0076alue":1}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(doc), &want) != nil || want == nil || strings.Count(doc, `"value"`) > 1 || strings.Contains(doc, `\u`) {
			return
		}
		if _, err := decodeResult([]byte(doc)); err != nil {
			return // no result
		}
		var value bytes.Buffer
		head, err := splitValue(bufio.NewReader(strings.NewReader(doc)), &value)
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		var rest map[string]json.RawMessage
		if err := json.Unmarshal(head, &rest); err != nil {
			t.Fatalf("%s: the head %s: %v", doc, head, err)
		}
		if got := value.String(); got != string(want["value"]) {
			t.Errorf("%s: value %q, want %q", doc, got, want["value"])
		}
	})
}
