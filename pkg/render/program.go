package render

import (
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// program is the runner that a pod mounts: contents by name of file.
type program struct {
	files map[string][]byte
	hash  string
}

// parts are the files that only some jobs need beside runner.File: a ConfigMap
// has no room for all of them. A pod never needs runner.LocalFile.
var parts = []struct {
	file   string
	source []byte
	needed func(api.Spec) bool
}{
	{runner.GroupFile, runner.Group, isGroup},
	{runner.PeersFile, runner.Peers, isGroup},
	{runner.MapFile, runner.Map, func(s api.Spec) bool { return s.Map != nil }},
	{runner.DebugFile, runner.Debug, func(s api.Spec) bool { return s.Debug }},
	{runner.AccountFile, runner.Account, namesKeyFile},
}

// isGroup tells whether the runners of several hosts may have to talk.
func isGroup(s api.Spec) bool { return s.Hosts > 1 || s.Backend == api.BackendPathways }

// namesKeyFile tells whether the runner reads its credentials for the store from
// a file, which the user may have put into the pod by other means.
func namesKeyFile(s api.Spec) bool {
	return s.StoreCredentials != "" || slices.Contains(s.SecretEnv, keyVariable) ||
		slices.ContainsFunc(s.Env, func(e api.EnvVar) bool { return e.Name == keyVariable })
}

// theRunner is what the job needs of it.
func theRunner(s api.Spec) program {
	files := map[string][]byte{runner.File: runner.Source}
	for _, part := range parts {
		if part.needed(s) {
			files[part.file] = part.source
		}
	}
	return program{files: files, hash: runner.Hash(files)}
}

func (p program) configMap() string { return api.RunnerPrefix + p.hash }

const runnerVolume = "runner"

// runner mounts the program. The base has the mount of runner.File.
func (p *patch) runner(r program) {
	p.replace(podSpec+"/volumes/0/configMap/name", r.configMap())
	for _, part := range parts {
		if _, used := r.files[part.file]; used {
			p.add(container+"/volumeMounts/-", map[string]any{
				"name": runnerVolume, "mountPath": "/app/" + part.file, "subPath": part.file, "readOnly": true,
			})
		}
	}
}
