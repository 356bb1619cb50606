package render

import (
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// What users add may hold anything that YAML has: it is written as kustomize
// writes it, and the objects hold the same.
func TestObjectsAreWrittenAsKustomizeWritesThem(t *testing.T) {
	tests := map[string]struct {
		object string
		quick  bool
	}{
		"texts and whole numbers": {"a: text\nb: 3\nc: true\nd: null\ne: [1, {f: \"007\"}]\n", true},
		"a fraction":              {"a: 0.5\n", false},
		"a large number":          {"a: 1000000.0\nb: 123456789012345678901234567890\n", false},
		"a date":                  {"a: 2026-01-01\n", false},
		"line breaks":             {"a: |\n  one\n  two\nb: \"tab\\there\"\n", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			memory := filesys.MakeFsInMemory()
			object := "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: x\nspec:\n" + indent(tt.object)
			for file, text := range map[string]string{"/t/kustomization.yaml": "resources: [x.yaml]\n", "/t/x.yaml": object} {
				if err := memory.WriteFile(file, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/t")
			if err != nil {
				t.Fatal(err)
			}
			want, err := resources.AsYaml()
			if err != nil {
				t.Fatal(err)
			}
			content, err := resources.Resources()[0].Map()
			if err != nil {
				t.Fatal(err)
			}
			if _, quick := plain(content); quick != tt.quick {
				t.Errorf("written the quick way: %v, want %v", quick, tt.quick)
			}
			_, got, err := write(resources.Resources()[0])
			if err != nil || string(got) != string(want) {
				t.Errorf("got\n%s%v\nwant\n%s", got, err, want)
			}
		})
	}
}

func indent(text string) string {
	out := ""
	start := 0
	for i, c := range text {
		if c == '\n' {
			out += "  " + text[start:i+1]
			start = i + 1
		}
	}
	return out
}
