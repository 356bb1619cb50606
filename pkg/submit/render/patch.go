package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
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

// noPath matches kustomize's error about a step of a JSON patch whose path does not exist.
const noPath = `(add|remove|replace) operation does not apply: doc is missing path: [\\"]*(/[^\\":]+)`

// inPlainWords returns an error of kustomize about a JSON patch with what to write instead; others as they are.
func inPlainWords(err error) error {
	found := lazyregexp.Of(noPath).FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	step, missing := found[1], found[2]
	if list, ok := strings.CutSuffix(missing, "/-"); ok && step == "add" {
		return fmt.Errorf("a patch adds to the list %s, which this job does not have: add the whole list, with the path %s", list, list)
	}
	if step == "add" {
		return fmt.Errorf("a patch adds %s, but this job does not have %s: add that as a whole", missing, path.Dir(missing))
	}
	return fmt.Errorf("the step %s of a patch does not apply: this job does not have %s", step, missing)
}
