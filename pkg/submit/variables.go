package submit

import (
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// runnerVariables are set by the runner for every call, or for the runner.
var runnerVariables = []string{"KINETIC_JOB_ID", "KINETIC_OUTPUT_DIR", "KINETIC_HOST", "KINETIC_ATTEMPT",
	api.EnvPodUID, api.EnvHosts, api.EnvLeader, api.EnvSlices, api.EnvGroupKey}

// SetByRunner reports whether an environment variable belongs to the runner: no job may
// give it a value.
func SetByRunner(name string) bool { return slices.Contains(runnerVariables, name) }
