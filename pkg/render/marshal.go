package render

import (
	"bytes"
	"maps"
	"strings"

	goyaml "go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A text of this many bytes is worth being written past the YAML encoder, which
// looks at every character several times.
const longText = 4 << 10

// standIn is written in place of a long text: two lines, so that the encoder
// makes a literal block of it, too.
const standIn = "kinetic-stand-in-for-a-long-text\nkinetic-stand-in-for-a-long-text\n"

// marshal writes an object as YAML. Of a ConfigMap with one long text, which is
// the runner's, the encoder sees a stand-in.
func marshal(o *unstructured.Unstructured) ([]byte, error) {
	key, text := longData(o)
	if key == "" {
		return goyaml.Marshal(o.Object)
	}
	object := maps.Clone(o.Object)
	data := maps.Clone(object["data"].(map[string]any))
	data[key] = standIn
	object["data"] = data
	out, err := goyaml.Marshal(object)
	if err != nil {
		return nil, err
	}
	const indent = "    "
	block := []byte(indented(standIn, indent))
	if bytes.Count(out, block) != 1 {
		return goyaml.Marshal(o.Object)
	}
	return bytes.Replace(out, block, []byte(indented(text, indent)), 1), nil
}

// longData finds the text of a ConfigMap that can be written as a literal block
// without looking at its characters again.
func longData(o *unstructured.Unstructured) (key, text string) {
	data, ok := o.Object["data"].(map[string]any)
	if o.GetKind() != "ConfigMap" || !ok {
		return "", ""
	}
	for key, v := range data {
		if text, ok := v.(string); ok && len(text) >= longText && isPlainBlock(text) {
			return key, text
		}
	}
	return "", ""
}

// isPlainBlock tells a text of printable ASCII whose lines neither begin nor end
// in a way that YAML has to mark.
func isPlainBlock(text string) bool {
	if text[0] == ' ' || text[0] == '\n' || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") || strings.Contains(text, " \n") {
		return false
	}
	return strings.IndexFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) < 0
}

// indented puts an indent before each line that is not empty.
func indented(text, indent string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16)
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
	return b.String()
}
