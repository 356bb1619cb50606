package frontdoor

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/version"
)

func TestVersionAsText(t *testing.T) {
	got := answer(t, "kubectl-kinetic", "version")
	want := "kubectl kinetic " + version.String() + " (" + runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version() + ")\n"
	if diff := cmp.Diff(outcome{Stdout: want}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestVersionAsJSON(t *testing.T) {
	want := map[string]string{
		"version": version.String(), "goVersion": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
	}
	for _, args := range []string{"-o json", "-o=json", "--output json", "--output=json"} {
		t.Run(args, func(t *testing.T) {
			got := answer(t, append([]string{"kubectl-kinetic", "version"}, strings.Fields(args)...)...)
			if got.Code != 0 || got.Stderr != "" {
				t.Fatalf("got %+v", got)
			}
			var info map[string]string
			if err := json.Unmarshal([]byte(got.Stdout), &info); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, info); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwnCommandsHaveHelp(t *testing.T) {
	tests := map[string][]string{
		"version [-o json]": {"version", "--help"},
		"help [COMMAND]":    {"help", "help"},
		"completion":        {"help", "completion"},
	}
	for usage, args := range tests {
		t.Run(usage, func(t *testing.T) {
			got := answer(t, append([]string{"kubectl-kinetic"}, args...)...)
			if got.Code != 0 || !strings.HasSuffix(got.Stdout, "\n\nUsage:\n  kubectl kinetic "+usage+"\n") {
				t.Errorf("got %+v", got)
			}
		})
	}
}
