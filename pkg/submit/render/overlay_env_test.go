package render

import (
	"slices"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A patch that replaces the container's env drops the user's variables and secrets.
func TestOverlayKeepsVariables(t *testing.T) {
	const env, workers = "/spec/template/spec/containers/0/env", "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/env"
	patch := func(kind, step string) map[string]string {
		return patches("- target: {kind: " + kind + "}\n  patch: |-\n    - {" + step + "}\n")
	}
	const merge = "    apiVersion: batch/v1\n    kind: Job\n    metadata: {name: any}\n    spec: {template: {spec: {containers: [{name: kinetic-worker, env: [{name: TOKEN, "
	const instead = " of container kinetic-worker, which the job needs: add to the list (/env/-) instead of replacing it"
	for name, c := range map[string]struct {
		spec  string
		files map[string]string
		want  string // empty where it is taken
	}{
		"others in their place": {"cpu", patch("Job", "op: add, path: "+env+", value: [{name: A, value: b}]"), "it removes the variable "},
		"another value":         {"cpu", patch("Job", "op: replace, path: "+env+"/0/value, value: other"), ""},
		"one besides":           {"cpu", patch("Job", "op: add, path: "+env+"/-, value: {name: A, value: b}"), ""},
		"none of a default":     {"cpu", patch("Job", "op: remove, path: "+env+"/0"), ""},
		"none of another":       {"cpu", patch("Job", "op: remove, path: "+env+"/1"), ""},
		"none of the runner":    {"cpu", patch("Job", "op: remove, path: "+env+"/2"), "it removes the variable KINETIC_POD_UID" + instead},
		"another for a default": {"cpu", patch("Job", "op: replace, path: "+env+"/0, value: {name: A, value: b}"), ""},
		"none of the user":      {"cpu", patch("Job", "op: remove, path: "+env+"/3"), "it removes the variable MODE" + instead},
		"a value for a secret":  {"cpu", patches("- target: {kind: Job}\n  patch: |-\n" + merge + "value: b}]}]}}}\n"), "it gives the variable TOKEN of container kinetic-worker a value in addition to its valueFrom: add valueFrom: null to the patch"},
		"instead of a secret":   {"cpu", patches("- target: {kind: Job}\n  patch: |-\n" + merge + "value: b, valueFrom: null}]}]}}}\n"), ""},
		"none for the workers":  {"lws-cpu-4hosts", patch("LeaderWorkerSet", "op: remove, path: "+workers), instead},
	} {
		t.Run(name, func(t *testing.T) {
			s := family[c.spec]
			s.Env = append(slices.Clone(s.Env), api.EnvVar{Name: "MODE", Value: "fast"})
			s.SecretEnv = []string{"TOKEN"}
			_, _, err := render(s, mustOverlay(t, c.files), testRunner, false)
			if c.want != "" {
				wantError(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
