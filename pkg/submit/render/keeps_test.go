package render

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestKeeps(t *testing.T) {
	mount := func(kind, pod, path, volume string) string {
		return "- target: {kind: " + kind + "}\n  patch: |-\n" +
			"    - {op: add, path: " + pod + "/spec/volumes/-, value: {name: more, " + volume + "}}\n" +
			"    - {op: add, path: " + pod + "/spec/containers/0/volumeMounts/-, value: {name: more, mountPath: " + path + "}}\n"
	}
	onJob := func(path, volume string) map[string]string {
		return patches(mount("Job", "/spec/template", path, volume))
	}
	const claim, leader, worker = "persistentVolumeClaim: {claimName: c}", "/spec/leaderWorkerTemplate/leaderTemplate", "/spec/leaderWorkerTemplate/workerTemplate"
	job, set := testSpec(cpu), testSpec(cpu, func(s *api.Spec) { s.Backend, s.Hosts = api.BackendLWS, 2 })
	tests := map[string]struct {
		spec  api.Spec
		files map[string]string
		want  bool
	}{
		"no overlay":          {job, nil, false},
		"a claim":             {job, onJob("/out", claim), true},
		"a claim below":       {job, onJob("/out/run/1", claim), false},
		"a claim elsewhere":   {job, onJob("/output", claim), false},
		"the pod's own disk":  {job, onJob("/out", "emptyDir: {}"), false},
		"that of the node":    {job, onJob("/out/", "hostPath: {path: /x}"), true},
		"a set":               {set, patches(mount("LeaderWorkerSet", leader, "/out", claim), mount("LeaderWorkerSet", worker, "/out", claim)), true},
		"Pathways":            {family["pathways-v6e-16"], patches(mount("LeaderWorkerSet", leader, "/out", claim)), true},
		"a leader only":       {set, patches(mount("LeaderWorkerSet", leader, "/out", claim)), false},
		"a disk on the claim": {job, patches(mount("Job", "/spec/template", "/out", claim), "- target: {kind: Job}\n  patch: |-\n    - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: {name: scratch, mountPath: /out/run}}\n"), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var o Overlay
			if tt.files != nil {
				o = mustOverlay(t, tt.files)
			}
			r, err := Objects(tt.spec, o)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Keeps(tt.spec.JobName(), "/out/run"); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
