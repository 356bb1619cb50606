package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
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

func TestChecks(t *testing.T) {
	gke := Options{Program: "gke-gcloud-auth-plugin", Install: "gcloud components install gke-gcloud-auth-plugin", Version: "v0.2.0"}
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
		options Options
		scripts map[string]string
		state   doctor.State
		detail  string
		fix     string
	}{
		"gcloud":          {"gcloud", gke, map[string]string{"gcloud": "echo Google Cloud SDK 500.0.0; echo core"}, doctor.OK, "Google Cloud SDK 500.0.0 (", ""},
		"no gcloud":       {"gcloud", gke, nil, doctor.Wrong, "not installed, or not on PATH", "https://cloud.google.com/sdk/docs/install"},
		"a broken gcloud": {"gcloud", gke, map[string]string{"gcloud": "echo no Python >&2; exit 3"}, doctor.Wrong, "--version: exit status 3: no Python", "https://cloud.google.com/sdk/docs/install"},
		"gcloud is not needed": {"gcloud", Options{Program: "aws"}, nil, doctor.Skipped,
			"not needed: the credentials for the cluster come from aws", ""},
		"the plugin":               {"auth plugin", gke, map[string]string{"gke-gcloud-auth-plugin": "echo Kubernetes v1"}, doctor.OK, "Kubernetes v1 (", ""},
		"no plugin":                {"auth plugin", gke, nil, doctor.Wrong, "not installed", "gcloud components install gke-gcloud-auth-plugin"},
		"the plugin is not needed": {"auth plugin", Options{}, nil, doctor.Skipped, "not needed: no program gets the credentials", ""},

		"Python":                {"Python", gke, map[string]string{"python3": "echo 3.12.1 True"}, doctor.OK, "3.12.1 (", ""},
		"an old Python":         {"Python", gke, map[string]string{"python3": "echo 3.8.1 False"}, doctor.Skipped, "is 3.8.1, but 3.9 or newer is needed; only --local needs it", ""},
		"a Python that crashes": {"Python", gke, map[string]string{"python3": "echo bad >&2; exit 1"}, doctor.Skipped, "can't be run: exit status 1: bad", ""},
		"no Python":             {"Python", gke, nil, doctor.Skipped, "no python3 on PATH", ""},

		"programs":         {"programs", gke, same("", ""), doctor.OK, "all have version v0.2.0", ""},
		"another version":  {"programs", gke, same("kubectl-kinetic_run", "echo v0.1.0"), doctor.Wrong, "this program is v0.2.0, but ", "kubectl krew upgrade kinetic"},
		"an older version": {"programs", gke, same("kubectl-kinetic_jobs", "exit 2"), doctor.Wrong, "kubectl-kinetic_jobs does not print its version", "kubectl krew upgrade kinetic"},
		"a missing one":    {"programs", gke, same("kubectl-kinetic_run", ""), doctor.Wrong, "but kubectl-kinetic_run is missing", "kubectl krew upgrade kinetic"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.options.Dir = programs(t, tt.scripts)
			checks := Checks(tt.options)
			for i := range checks {
				checks[i].Within = time.Minute // a busy machine is slow
			}
			results := doctor.Run(t.Context(), checks)
			at := slices.IndexFunc(results, func(r doctor.Result) bool { return r.Name == tt.check })
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
	o := Options{Program: "gke-gcloud-auth-plugin", Install: "gcloud components install gke-gcloud-auth-plugin", Version: "v0.2.0", Dir: programs(t, slow)}
	checks := Checks(o)
	for i := range checks {
		checks[i].Within = time.Millisecond
	}
	for _, got := range doctor.Run(t.Context(), checks) {
		if got.State != doctor.Skipped || !strings.HasPrefix(got.Detail, "no answer within 1ms: ") {
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
	if got := (Options{Version: "v0.2.0", Dir: beside}).programs(t.Context()); got.State != doctor.OK {
		t.Errorf("beside: got %v", got)
	}
	if got := (Options{Version: "v0.2.0", Dir: dir}).programs(t.Context()); got.State != doctor.Wrong {
		t.Errorf("in %s: got %v", dir, got)
	}
}
