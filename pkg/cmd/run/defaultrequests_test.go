package run

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

func TestDefaultRequests(t *testing.T) {
	for name, test := range map[string]struct {
		cpu, memory string // of the flags
		environ     map[string]string
		profile     config.Target
		want        string // CPU and memory, or a part of the error
	}{
		"nothing":             {want: "/"},
		"the profile":         {profile: config.Target{Defaults: config.Defaults{CPU: "2", Memory: "4Gi"}}, want: "2/4Gi"},
		"a variable":          {environ: map[string]string{"KINETIC_CPU": "500m"}, profile: config.Target{Defaults: config.Defaults{CPU: "2", Memory: "4Gi"}}, want: "500m/4Gi"},
		"a flag":              {cpu: "3", memory: "1Gi", environ: map[string]string{"KINETIC_CPU": "x", "KINETIC_MEMORY": "x"}, want: "3/1Gi"},
		"a wrong variable":    {environ: map[string]string{"KINETIC_CPU": "much"}, want: `KINETIC_CPU "much": not a Kubernetes quantity`},
		"a missing unit":      {environ: map[string]string{"KINETIC_MEMORY": "2"}, want: `KINETIC_MEMORY "2": that is 2 bytes; did you mean 2Gi?`},
		"a profile's mistake": {profile: config.Target{Defaults: config.Defaults{CPU: "-1"}}, want: `cpu of the profile "-1": must be positive`},
	} {
		r := api.Request{}
		r.CPU, r.Memory = test.cpu, test.memory
		got := ""
		if err := defaultRequests(&r, test.profile, func(name string) string { return test.environ[name] }); err != nil {
			got = err.Error()
		} else {
			got = r.CPU + "/" + r.Memory
		}
		if !strings.HasPrefix(got, test.want) || strings.HasPrefix(test.want, "/") && got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
