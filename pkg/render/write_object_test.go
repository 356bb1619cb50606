package render

import (
	"strings"
	"testing"

	goyaml "go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kinetic/kinetic/runner"
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

// The runner's ConfigMap, and texts that are like it and not quite.
func TestLongTextsAreWrittenAsTheEncoderWritesThem(t *testing.T) {
	long := strings.Repeat("def f():\n    return 1\n\n", 500) + "end\n"
	tests := map[string]string{
		"a program":            long,
		"the runner":           string(runner.Source),
		"a trailing blank":     long + "x \ny\n",
		"a tab":                "\t" + long,
		"a tab inside":         long + "a\tb\n",
		"a leading blank":      " " + long,
		"a leading line end":   "\n" + long,
		"no line end":          strings.TrimSuffix(long, "\n"),
		"two line ends":        long + "\n",
		"letters beyond ASCII": long + "ü\n",
		"a carriage return":    long + "a\r\n",
		"the stand-in itself":  long + standIn(0),
		"short":                "a\nb\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}, "data": map[string]any{"f.py": text, "g.py": long + "another\n", "z": "1"}}
			want, err := goyaml.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			got, err := marshal(&unstructured.Unstructured{Object: object})
			if err != nil || string(got) != string(want) {
				t.Errorf("got %d bytes, %v, want %d bytes", len(got), err, len(want))
			}
			if object["data"].(map[string]any)["f.py"] != text {
				t.Error("the object was changed")
			}
		})
	}
	files := map[string]any{"remote_runner.py": string(runner.Source), "remote_group.py": string(runner.Group), "remote_peers.py": string(runner.Peers), "remote_map.py": string(runner.Map)}
	if keys := longData(&unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "data": files}}); len(keys) != len(files) {
		t.Errorf("of the runner's files only %q are written the quick way", keys)
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
