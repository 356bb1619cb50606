package submit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// runnerVariables are set by the runner for every call, or for the runner.
func runnerVariables() []string {
	return []string{"KINETIC_JOB_ID", "KINETIC_OUTPUT_DIR", "KINETIC_OUTPUT_PATH", "KINETIC_HOST", "KINETIC_ATTEMPT", "KINETIC_INPUT",
		"KINETIC_STOP_FILE", "KINETIC_COMMIT_SOCKET", "KINETIC_CACHE_DIR", api.EnvPodUID, api.EnvHosts, api.EnvLeader, api.EnvSlices, api.Contract.Names.GroupKey, api.EnvNetwork, api.Contract.Names.Netrc, api.EnvTPUHosts, api.EnvWarmKey, "KINETIC_KEPT"}
}

// SetByRunner reports whether an environment variable belongs to the runner: no job may
// set it.
func SetByRunner(name string) bool {
	return slices.Contains(runnerVariables(), name) || strings.HasPrefix(name, api.EnvDataPrefix) || strings.HasPrefix(name, api.EnvVolumePrefix)
}

// groupVariables are set for each host by the controller of its job, and read by libtpu
// and JAX. The variables in perHost must differ between the hosts: the runner
// distinguishes the hosts by them.
func groupVariables() []string {
	return []string{"TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES", "TPU_PROCESS_ADDRESSES", "TPU_PROCESS_PORT", "TPU_NAME",
		"MEGASCALE_COORDINATOR_ADDRESS", "MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID"}
}

func perHost() []string {
	return []string{"LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX", api.EnvCompletionIndex}
}

// debugVariables are set by the component debug, or would move the debugger away from
// the port that the component declares.
func debugVariables() []string { return []string{api.EnvDebug, api.EnvBreakpoint, api.EnvDebugPort} }

// checkVariables rejects variables that the pods of a job need for something else.
func checkVariables(r api.Request, s api.Spec) error {
	var names []string
	for _, e := range s.Env {
		if s.Hosts > 1 && slices.Contains(perHost(), e.Name) {
			return fmt.Errorf("--env %s: the cluster sets this variable separately on each host; omit it", e.Name)
		}
		names = append(names, e.Name)
	}
	for _, name := range slices.Concat(names, slices.Sorted(maps.Keys(r.Secrets))) {
		switch {
		case r.Map != "" && name == api.EnvCompletionIndex:
			return fmt.Errorf("env %s: reserved for maps: choose another name", name)
		case s.Debug && slices.Contains(debugVariables(), name):
			return fmt.Errorf("env %s: needed by --debug: omit one of the two", name)
		case name == api.EnvCredentials && s.StoreCredentials != "":
			return fmt.Errorf("env %s: already set by --store-credentials: omit one of the two", name)
		}
	}
	return nil
}
