package wheel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

func TestParseName(t *testing.T) {
	tests := map[string]struct {
		want    wheel.Name
		project string
		tags    []string
	}{
		"six-1.16.0-py2.py3-none-any.whl": {
			wheel.Name{Distribution: "six", Version: "1.16.0", Pythons: []string{"py2", "py3"}, ABIs: []string{"none"}, Platforms: []string{"any"}},
			"six", []string{"py2-none-any", "py3-none-any"},
		},
		"Foo_Bar.baz-1!2.0+cu.12-3b-CP312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl": {
			wheel.Name{
				Distribution: "Foo_Bar.baz", Version: "1!2.0+cu.12", Build: "3b", Pythons: []string{"cp312"}, ABIs: []string{"cp312"},
				Platforms: []string{"manylinux_2_17_x86_64", "manylinux2014_x86_64"},
			},
			"foo-bar-baz", []string{"cp312-cp312-manylinux_2_17_x86_64", "cp312-cp312-manylinux2014_x86_64"},
		},
	}
	for file, tt := range tests {
		tt.want.File = file
		got, err := wheel.ParseName(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		if got.Project() != tt.project || !slices.Equal(got.Tags(), tt.tags) {
			t.Errorf("%s: project %s, tags %q", file, got.Project(), got.Tags())
		}
	}
}

func TestParseNameSaysWhatIsWrong(t *testing.T) {
	for file, want := range map[string]string{
		"six-1.16.0.tar.gz":               "does not end with .whl",
		"six-1.16.0-any.whl":              "3 parts between hyphens",
		"a-b-1-2-py3-none-any.whl":        "7 parts between hyphens",
		"six--py3-none-any.whl":           `part "" is empty`,
		"../six-1-py3-none-any.whl":       `part "../six"`,
		"six-1-a-py3-none-any.whl":        `build "a" does not begin with a digit`,
		"six-1-py2.-none-any.whl":         "a tag is empty",
		"six-1-py3-none-.whl":             `part "" is empty`,
		"six-1-py3-none-a..b.whl":         "a tag is empty",
		"a b-1-py3-none-any.whl":          `part "a b"`,
		"":                                "does not end with .whl",
		strings.Repeat("a", 300) + ".whl": "304 bytes",
	} {
		if _, err := wheel.ParseName(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want %q in it", file, err, want)
		}
	}
}
