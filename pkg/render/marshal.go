package render

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A text of this many bytes is worth being written past the YAML encoder, which
// looks at every character several times.
const longText = 4 << 10

// standIn is written in place of a long text: two lines, so that the encoder
// makes a literal block of it, too.
func standIn(i int) string {
	line := fmt.Sprintf("kinetic-stand-in-for-long-text-%d\n", i)
	return line + line
}

// marshal writes an object as YAML. Of the long texts of a ConfigMap, which are
// the runner's, the encoder sees stand-ins.
func marshal(o *unstructured.Unstructured) ([]byte, error) {
	keys := longData(o)
	if len(keys) == 0 {
		return goyaml.Marshal(o.Object)
	}
	object := maps.Clone(o.Object)
	full := object["data"].(map[string]any)
	data := maps.Clone(full)
	for i, key := range keys {
		data[key] = standIn(i)
	}
	object["data"] = data
	out, err := goyaml.Marshal(object)
	if err != nil {
		return nil, err
	}
	var parts [][]byte
	for i, key := range keys {
		block := indented(standIn(i))
		before, after, found := bytes.Cut(out, block)
		if !found || bytes.Contains(after, block) { // somebody's text has it too
			return goyaml.Marshal(o.Object)
		}
		parts = append(parts, before, indented(full[key].(string)))
		out = after
	}
	return bytes.Join(append(parts, out), nil), nil
}

// longData are the keys of a ConfigMap whose texts can be written as literal blocks
// without looking at their characters again.
func longData(o *unstructured.Unstructured) []string {
	data, ok := o.Object["data"].(map[string]any)
	if o.GetKind() != "ConfigMap" || !ok {
		return nil
	}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(data)) { // as the encoder does
		if text, ok := data[key].(string); ok && len(text) >= longText && isPlainBlock(text) {
			keys = append(keys, key)
		}
	}
	return keys
}

// isPlainBlock tells a text of printable ASCII whose lines neither begin nor end
// in a way that YAML has to mark.
func isPlainBlock(text string) bool {
	if text[0] == ' ' || text[0] == '\n' || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") || strings.Contains(text, " \n") {
		return false
	}
	for i := range len(text) { // by bytes: of more than one is no ASCII
		if c := text[i]; c != '\n' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// indented puts an indent before each line that is not empty.
func indented(text string) []byte {
	const indent = "    "
	var b bytes.Buffer
	b.Grow(len(text) + len(indent)*strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
	return b.Bytes()
}
