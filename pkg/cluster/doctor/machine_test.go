package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

// programs writes shell scripts, by their names, into a folder that is the whole PATH.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return dir
}

func TestMachineChecks(t *testing.T) {
	gke := MachineOptions{Program: "gke-gcloud-auth-plugin", Install: "gcloud components install gke-gcloud-auth-plugin", Version: "v0.2.0"}
	same := func(but, script string) map[string]string {
		all := map[string]string{}
		for _, name := range []string{"kubectl-kinetic", "kubectl-kinetic_run", "kubectl-kinetic_jobs"} {
			all[name] = `[ "$*" = __version ] && echo v0.2.0`
		}
		if all[but] = script; script == "" {
			delete(all, but)
		}
		return all
	}
	tests := map[string]struct {
		check   string
		options MachineOptions
		scripts map[string]string
		state   State
		detail  string
		fix     string
	}{
		"gcloud":          {"gcloud", gke, map[string]string{"gcloud": "echo Google Cloud SDK 500.0.0; echo core"}, OK, "Google Cloud SDK 500.0.0 (", ""},
		"no gcloud":       {"gcloud", gke, nil, Wrong, "not installed, or not on PATH", "https://cloud.google.com/sdk/docs/install"},
		"a broken gcloud": {"gcloud", gke, map[string]string{"gcloud": "echo no Python >&2; exit 3"}, Wrong, "--version: exit status 3: no Python", "https://cloud.google.com/sdk/docs/install"},
		"gcloud is not needed": {"gcloud", MachineOptions{Program: "aws"}, nil, Skipped,
			"not needed: the credentials for the cluster come from aws", ""},
		"the plugin":               {"auth plugin", gke, map[string]string{"gke-gcloud-auth-plugin": "echo Kubernetes v1"}, OK, "Kubernetes v1 (", ""},
		"no plugin":                {"auth plugin", gke, nil, Wrong, "not installed", "gcloud components install gke-gcloud-auth-plugin"},
		"the plugin is not needed": {"auth plugin", MachineOptions{}, nil, Skipped, "not needed: no program gets the credentials", ""},

		"Python":                {"Python", gke, map[string]string{"python3": "echo 3.12.1 True"}, OK, "3.12.1 (", ""},
		"an old Python":         {"Python", gke, map[string]string{"python3": "echo 3.8.1 False"}, Skipped, "is 3.8.1, but 3.9 or newer is needed; only --local needs it", ""},
		"a Python that crashes": {"Python", gke, map[string]string{"python3": "echo bad >&2; exit 1"}, Skipped, "can't be run: exit status 1: bad", ""},
		"no Python":             {"Python", gke, nil, Skipped, "no python3 on PATH", ""},

		"programs":         {"programs", gke, same("", ""), OK, "all have version v0.2.0", ""},
		"another version":  {"programs", gke, same("kubectl-kinetic_run", "echo v0.1.0"), Wrong, "this program is v0.2.0, but ", version.Reinstall},
		"an older version": {"programs", gke, same("kubectl-kinetic_jobs", "exit 2"), Wrong, "kubectl-kinetic_jobs does not print its version", version.Reinstall},
		"a missing one":    {"programs", gke, same("kubectl-kinetic_run", ""), Wrong, "but kubectl-kinetic_run is missing", version.Reinstall},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.options.Dir = programs(t, tt.scripts)
			checks := MachineChecks(tt.options)
			for i := range checks {
				checks[i].Within = time.Minute // a busy machine is slow
			}
			results := Run(t.Context(), checks)
			at := slices.IndexFunc(results, func(r Result) bool { return r.Name == tt.check })
			if at < 0 {
				t.Fatalf("there is no check %s", tt.check)
			}
			if got := results[at]; got.State != tt.state || !strings.Contains(got.Detail, tt.detail) || got.Fix != tt.fix {
				t.Errorf("got %s %q, fix %q", got.State, got.Detail, got.Fix)
			}
		})
	}
}

// gcloud takes long to start the first time: that is no mistake.
func TestSlowPrograms(t *testing.T) {
	slow := map[string]string{}
	for _, name := range []string{"gcloud", "gke-gcloud-auth-plugin", "python3", "kubectl-kinetic", "kubectl-kinetic_run", "kubectl-kinetic_jobs"} {
		slow[name] = "while :; do :; done"
	}
	o := MachineOptions{Program: "gke-gcloud-auth-plugin", Install: "gcloud components install gke-gcloud-auth-plugin", Version: "v0.2.0", Dir: programs(t, slow)}
	checks := MachineChecks(o)
	for i := range checks {
		checks[i].Within = time.Millisecond
	}
	for _, got := range Run(t.Context(), checks) {
		if got.State != Skipped || !strings.HasPrefix(got.Detail, "no answer within 1ms: ") {
			t.Errorf("%s: got %s %q", got.Name, got.State, got.Detail)
		}
	}
}

// The other programs are looked for beside this one, then on PATH.
func TestProgramsElsewhere(t *testing.T) {
	dir := programs(t, map[string]string{"kubectl-kinetic": "echo v0.1.0", "kubectl-kinetic_run": "echo v0.2.0", "kubectl-kinetic_jobs": "echo v0.2.0"})
	beside := t.TempDir()
	if err := os.WriteFile(filepath.Join(beside, "kubectl-kinetic"), []byte("#!/bin/sh\necho v0.2.0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := (MachineOptions{Version: "v0.2.0", Dir: beside}).programs(t.Context()); got.State != OK {
		t.Errorf("beside: got %v", got)
	}
	if got := (MachineOptions{Version: "v0.2.0", Dir: dir}).programs(t.Context()); got.State != Wrong {
		t.Errorf("in %s: got %v", dir, got)
	}
}
