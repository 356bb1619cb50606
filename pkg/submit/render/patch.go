package render

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// patch is a JSON patch (RFC 6902), the only form of patch that kustomize applies without
// parsing the OpenAPI schema of all of Kubernetes.
type patch []operation

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"` // of all operations but remove
}

func (p *patch) add(path string, value any) {
	*p = append(*p, operation{"add", path, value})
}

func (p *patch) replace(path string, value any) {
	*p = append(*p, operation{"replace", path, value})
}

func (p *patch) remove(path string) {
	*p = append(*p, operation{Op: "remove", Path: path})
}

func (p *patch) test(path string, value any) {
	*p = append(*p, operation{"test", path, value})
}

// encode writes the patch as JSON, one operation per line. YAML encoders lose some
// characters.
func (p patch) encode() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	before := "[\n"
	for _, step := range p {
		text.WriteString(before)
		if err := encoder.Encode(step); err != nil { // ends with a newline
			return nil, err
		}
		text.Truncate(text.Len() - 1)
		before = ",\n"
	}
	text.WriteString("\n]\n")
	return text.Bytes(), nil
}

// addEach adds every pair to an existing map, in the order of the keys.
func (p *patch) addEach(path string, pairs map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		p.add(pointer(path, key), pairs[key])
	}
}

// pointer returns the JSON pointer (RFC 6901) of a key in the map at path.
func pointer(path, key string) string {
	return path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
