package submit

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestCheckVariables(t *testing.T) {
	debugged := api.Spec{Execution: api.Execution{Debug: true}}
	keyed := api.Spec{Placement: api.Placement{StoreCredentials: "key"}}
	for name, tt := range map[string]struct {
		variable string
		request  api.Request
		spec     api.Spec
		want     string // "" for no error
	}{
		"the number of a pod of a map":    {"JOB_COMPLETION_INDEX", api.Request{Map: "in"}, api.Spec{}, "env JOB_COMPLETION_INDEX: reserved for maps: choose another name"},
		"the same without a map":          {"JOB_COMPLETION_INDEX", api.Request{}, api.Spec{}, ""},
		"another port for the debugger":   {"KINETIC_DEBUG_PORT", api.Request{}, debugged, "env KINETIC_DEBUG_PORT: needed by --debug: omit one of the two"},
		"a port without a debugger":       {"KINETIC_DEBUG_PORT", api.Request{}, api.Spec{}, ""},
		"credentials that are there":      {"GOOGLE_APPLICATION_CREDENTIALS", api.Request{}, keyed, "already set by --store-credentials"},
		"credentials that are not":        {"GOOGLE_APPLICATION_CREDENTIALS", api.Request{}, api.Spec{}, ""},
		"what every host has differently": {"LWS_WORKER_INDEX", api.Request{}, api.Spec{Placement: api.Placement{Hosts: 2}}, "--env LWS_WORKER_INDEX: the cluster sets this variable separately on each host; omit it"},
	} {
		t.Run(name, func(t *testing.T) {
			plain, secret := tt.spec, tt.request
			plain.Env = []api.EnvVar{{Name: tt.variable, Value: "1"}}
			secret.Secrets = map[string]string{tt.variable: "1"}
			errs := map[string]error{"--env": checkVariables(tt.request, plain)}
			if !strings.HasPrefix(tt.want, "--env") {
				errs["--secret-env"] = checkVariables(secret, tt.spec)
			}
			for flag, err := range errs {
				if got := message(err); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
					t.Errorf("%s: got %q, want %q", flag, got, tt.want)
				}
			}
		})
	}
}
