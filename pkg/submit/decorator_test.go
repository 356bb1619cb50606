package submit

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

func TestCheckDecorator(t *testing.T) {
	for name, want := range map[string]string{
		"accelerator": "",
		"logs":        "",
		"acelerator":  "t.py:f: 'acelerator' is not a parameter of kinetic.run: did you mean 'accelerator'?",
		"tags":        "t.py:f: 'tags' is not a parameter of kinetic.run: did you mean 'labels'?",
		"gpu":         "t.py:f: 'gpu' is not a parameter of kinetic.run: did you mean 'accelerator'?",
		"colour":      "t.py:f: 'colour' is not a parameter of kinetic.run",
	} {
		got := ""
		if err := checkDecorator("t.py:f", []call.Parameter{{Name: "cpu"}, {Name: name}}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
