package render

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

// The port that the leader's probe looks at is the one that its runner listens on. JAX, PyTorch and libtpu take none of the
// runner's ports.
func TestThePortOfTheLeader(t *testing.T) {
	s := family["lws-cpu-4hosts"]
	leader := mustPods(t, mustRender(t, s), s)["spec.leaderWorkerTemplate.leaderTemplate"]
	port := worker(leader.Spec).ReadinessProbe.TCPSocket.Port.IntValue()
	ports := runnertest.Eval[[]int](t, "list(PORTS.values())", "contract")
	if !slices.Contains(ports, port) {
		t.Errorf("the probe looks at port %d, and the runner has the ports %v", port, ports)
	}
	others := runnertest.Eval[[]int](t, "[TORCH_PORT, JAX_PORT, TPU_PORT]", "hosts.rendezvous")
	for _, port := range ports {
		if port >= 8470 && port <= 8490 {
			t.Errorf("port %d is in the range that libtpu and JAX have theirs in", port)
		}
		if slices.Contains(append(others, 8431, 8080, 8353), port) {
			t.Errorf("port %d is taken", port)
		}
	}
}

// The runner takes every command line that a manifest has.
func TestRunnerTakesItsArguments(t *testing.T) {
	var all [][]string
	for _, s := range family {
		for _, pod := range mustPods(t, mustRender(t, s), s) {
			if w := worker(pod.Spec); w != nil {
				all = append(all, w.Args)
			}
		}
	}
	parsed := "len([parse_options(args) for args in " + asJSON(t, all) + "])"
	runnertest.Compare(t, map[string]int{parsed: len(all)}, "options")
}

// What no flag says is the runner's default.
func TestRunnerHasTheSameDefaults(t *testing.T) {
	s := family["cpu"]
	pod := mustPods(t, mustRender(t, s), s)["spec.template"].Spec
	runnertest.Compare(t, map[string]float64{
		"FLAGS['--grace'][1]":           float64(graceOf(t, pod)),
		"FLAGS['--max-runtime'][1]":     s.MaxRuntime.Seconds(),
		"FLAGS['--max-disruptions'][1]": float64(s.MaxDisruptions),
	}, "options")
	for _, flag := range []string{"--max-runtime", "--hang-timeout", "--hang-action", "--max-disruptions", "--retry-on"} {
		if slices.Contains(worker(pod).Args, flag) {
			t.Errorf("%s is said", flag)
		}
	}
}

// A host of an Indexed Job finds its place in what the manifest and Kubernetes tell it.
func TestRunnerFindsItsPlace(t *testing.T) {
	s := family["indexed-cpu-4hosts"]
	environ := map[string]string{"JOB_COMPLETION_INDEX": "3"}
	for _, e := range worker(mustPods(t, mustRender(t, s), s)["spec.template"].Spec).Env {
		environ[e.Name] = e.Value
	}
	got := runnertest.Eval[[]any](t, "find_group("+asJSON(t, environ)+", False)", "hosts.rendezvous")
	if diff := cmp.Diff([]any{3., 4., s.JobName() + "-0." + s.JobName(), 1., false}, got); diff != "" {
		t.Errorf("host, hosts, leader, slices, in_set (-want +got):\n%s", diff)
	}
}

// asJSON returns strings as JSON, which means the same in Python.
func asJSON(t *testing.T, strings any) string {
	t.Helper()
	data, err := json.Marshal(strings)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
