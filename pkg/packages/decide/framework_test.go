package decide

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// TestFrameworks: each package is listed once, as indexes spell it.
func TestFrameworks(t *testing.T) {
	seen := map[string]framework{}
	for uses, names := range namesOf() {
		for name := range strings.FieldsSeq(names) {
			if other, twice := seen[name]; twice {
				t.Errorf("%s uses %s and %s", name, other, uses)
			}
			if seen[name] = uses; requirement.Normalize(name) != name {
				t.Errorf("%s is spelled %s", name, requirement.Normalize(name))
			}
		}
	}
}
