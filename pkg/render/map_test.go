package render

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestMapArguments(t *testing.T) {
	m := api.Map{InputsSHA256: "ab", Inputs: 40, Chunk: 2, Parallelism: 1}
	const all = "--map ab --chunk 2 --inputs 40"
	for want, only := range map[string][]api.Range{all: nil, all + " --only 7-7,20-39": {{First: 7, Last: 7}, {First: 20, Last: 39}}} {
		m.Only = only
		if got := strings.Join(mapArguments(api.Spec{Map: &m}), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
