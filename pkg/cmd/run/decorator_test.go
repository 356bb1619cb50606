package run

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

func TestUnusedParameters(t *testing.T) {
	text := func(s string) *string { return &s }
	given := []call.Parameter{{Name: "accelerator", Value: text("l4:spot")}, {Name: "cpu", Value: text("4")}, {Name: "env"}, {Name: "debug", Value: text("true")}}
	const none = "this command does not use the parameters of @kinetic.run on train: "
	for name, tt := range map[string]struct {
		given   []call.Parameter
		settled []string
		want    string
	}{
		"without parameters":       {},
		"all":                      {given, nil, none + "accelerator, cpu, env, debug; to use them, add -a l4:spot --cpu 4 --debug"},
		"some are typed":           {given, []string{"accelerator", "debug"}, none + "cpu, env; to use them, add --cpu 4"},
		"all are typed":            {given[:2], []string{"accelerator", "cpu"}, ""},
		"no constants":             {given[2:3], nil, none + "env"},
		"quoted":                   {[]call.Parameter{{Name: "container_image", Value: text("a b")}}, nil, none + "container_image; to use them, add --image 'a b'"},
		"false is the default":     {[]call.Parameter{{Name: "spot", Value: text("false")}}, nil, ""},
		"the log is only Python's": {[]call.Parameter{{Name: "logs", Value: text("none")}}, nil, ""},
		"flags are any":            {[]call.Parameter{{Name: "flags"}}, nil, none + "flags"},
	} {
		t.Run(name, func(t *testing.T) {
			got := unusedParameters("pkg/train.py:train", tt.given, func(flag string) bool { return slices.Contains(tt.settled, flag) })
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Every flag of a parameter of the Python package exists.
func TestFlagsOfParameters(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	flags := NewCommand(streams, clock.RealClock{}).Flags()
	for name, flag := range flagsOfParameters() {
		if flag != "" && flags.Lookup(flag) == nil {
			t.Errorf("%s: there is no --%s", name, flag)
		}
	}
}
