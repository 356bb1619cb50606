package render

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestRejects(t *testing.T) {
	env := func(name, value string) func(*api.Spec) {
		return func(s *api.Spec) { s.Env = append(s.Env, api.EnvVar{Name: name, Value: value}) }
	}
	for name, c := range map[string]struct {
		change func(*api.Spec)
		want   string
	}{
		"a value that is not text":           {env("A", "secret\xff"), "value of env A: not UTF-8, which a manifest must be"},
		"a value with a zero byte":           {env("A", "secret\x00"), "value of env A: it contains the control character U+0000"},
		"a value with a delete character":    {env("A", "secret\x7f"), "value of env A: it contains the control character U+007F"},
		"a value with a next-line character": {env("A", "secret\u0085"), "value of env A: it contains the control character U+0085"},
		"a value that is no character":       {env("A", "secret\uffff"), "value of env A: it contains the control character U+FFFF"},
		"lines that begin with a tab":        {env("A", "\tsecret\n"), "of env A: a multi-line text in a manifest can't begin with a tab"},
		"a name that is not text":            {func(s *api.Spec) { s.Name = "\xff" }, "name of job"},
		"an output directory with a control": {func(s *api.Spec) { s.OutputDir = "gs://b/\x7f" }, "output directory of job"},
		"an annotation with a control":       {func(s *api.Spec) { s.Annotations = map[string]string{"a": "\x7f"} }, "value of annotation a"},
		"an annotation that hides the job": {
			func(s *api.Spec) { s.Annotations = map[string]string{"config.kubernetes.io/local-config": "true"} },
			"annotation config.kubernetes.io/local-config: kustomize reserves config.kubernetes.io/*",
		},
		"an annotation that is a number": {func(s *api.Spec) { s.Annotations = map[string]string{"5": "a"} }, "annotation 5: kustomize takes a number"},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSpec(v6e8, c.change)
			_, _, err := render(s, Overlay{}, testRunner, false)
			if err == nil {
				t.Fatalf("no error, want one with %q", c.want)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want one with %q", err, c.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells a value: %q", err)
			}
		})
	}
}

func TestLabelValue(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3":                           "v1.2.3",
		"v1.2.3+dirty":                     "v1.2.3-dirty",
		"(devel)":                          "devel",
		"":                                 "",
		"+++":                              "",
		strings.Repeat("1", 70):            strings.Repeat("1", 63),
		strings.Repeat("1", 62) + "+dirty": strings.Repeat("1", 62),
	} {
		if got := labelValue(version); got != want {
			t.Errorf("%q: got %q, want %q", version, got, want)
		}
	}
}

func TestPointer(t *testing.T) {
	for key, want := range map[string]string{
		"plain":     "/at/plain",
		"a.b/c":     "/at/a.b~1c",
		"a~b":       "/at/a~0b",
		"a~1b/c~0d": "/at/a~01b~1c~00d",
	} {
		if got := pointer("/at", key); got != want {
			t.Errorf("%q: got %s, want %s", key, got, want)
		}
	}
}
