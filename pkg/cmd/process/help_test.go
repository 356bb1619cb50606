package process

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReflow(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a line that fits":      {"one two", "one two"},
		"lines are joined":      {"one\ntwo", "one two"},
		"and broken":            {"one two three four", "one two\nthree four"},
		"exactly the width":     {"twelve ching", "twelve ching"},
		"letters are counted":   {"éééééé ééééé", "éééééé ééééé"},
		"a word that is longer": {"a kubernetes-cluster b", "a\nkubernetes-cluster\nb"},
		"paragraphs stay":       {"one\n\ntwo\n", "one\n\ntwo"},
		"a table stays":         {"one\n  a    first of the rows\n  b    second\ntwo", "one\n  a    first of the rows\n  b    second\ntwo"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, reflow(tt.text, 12)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
