package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func mustOverlay(t *testing.T, files map[string]string) Overlay {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, files)
	o, err := ReadOverlay(dir)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func wantError(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want one with %q", err, w)
		}
	}
}

func TestOverlayIsAppliedLast(t *testing.T) {
	s := family["l4"]
	for name, c := range map[string]struct {
		files map[string]string
		want  string // a line of the output
	}{
		"a JSON patch": {
			map[string]string{"kustomization.yaml": component + "patches:\n- target: {kind: Job}\n  patch: |-\n    - {op: replace, path: /spec/backoffLimit, value: 7}\n"},
			"  backoffLimit: 7",
		},
		"a strategic merge patch in a file": {
			map[string]string{
				"kustomization.yaml": component + "patches:\n- path: sub/p.yaml\n  target: {kind: Job}\n",
				"sub/p.yaml":         "apiVersion: batch/v1\nkind: Job\nmetadata: {name: any}\nspec: {template: {spec: {containers: [{name: kinetic-worker, workingDir: /data}]}}}\n",
			},
			"        workingDir: /data",
		},
		"an image": {
			map[string]string{"Kustomization": component + "images:\n- name: us-docker.pkg.dev/p/kn/base-cpu\n  newTag: v2\n"},
			"        image: us-docker.pkg.dev/p/kn/base-cpu:v2",
		},
		"labels on everything": {
			map[string]string{"kustomization.yml": component + "labels:\n- pairs: {team: vision}\n"},
			"    team: vision",
		},
		"a replacement": {
			map[string]string{"kustomization.yaml": component + "replacements:\n- source: {kind: Job, fieldPath: metadata.namespace}\n  targets:\n  - select: {kind: Job}\n    fieldPaths: [spec.template.spec.containers.0.workingDir]\n    options: {create: true}\n"},
			"        workingDir: default",
		},
		"a resource of an unknown kind": {
			map[string]string{
				"kustomization.yaml":      component + "resources: [more]\n",
				"more/kustomization.yaml": "resources: [x.yaml]\n",
				"more/x.yaml":             "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\nanything: goes\n",
			},
			"anything: goes",
		},
		"a resource, in the namespace of the job": {
			map[string]string{
				"kustomization.yaml": component + "resources: [x.yaml]\n",
				"x.yaml":             "apiVersion: v1\nkind: Secret\nmetadata: {name: x, labels: {a: b}}\n",
			},
			"  name: x\n  namespace: default",
		},
		"a resource that names the namespace of the job": {
			map[string]string{
				"kustomization.yaml": component + "resources: [x.yaml]\n",
				"x.yaml":             "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: default}\n",
			},
			"  name: x\n  namespace: default",
		},
		"a generated ConfigMap": {
			map[string]string{
				"kustomization.yaml": component + "configMapGenerator:\n- name: extra\n  files: [renamed.txt=data.txt]\n  envs: [e.env]\n  literals: [a=b]\n",
				"data.txt":           "hello\n", "e.env": "c=d\n",
			},
			"  renamed.txt: |",
		},
		"a nested component": {
			map[string]string{
				"kustomization.yaml":      component + "components: [part]\n",
				"part/kustomization.yaml": component + "patches:\n- target: {kind: Job}\n  patch: |-\n    - {op: replace, path: /spec/backoffLimit, value: 8}\n",
			},
			"  backoffLimit: 8",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, files, err := render(s, mustOverlay(t, c.files), testRunner, false)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(r.YAML()), c.want+"\n") {
				t.Errorf("no line %q in\n%s", c.want, r.YAML())
			}
			for file, content := range c.files {
				if diff := cmp.Diff(content, string(files["overlay/"+file])); diff != "" {
					t.Errorf("overlay/%s -read +kept:\n%s", file, diff)
				}
			}
		})
	}
}

func patches(entries ...string) map[string]string {
	return map[string]string{"kustomization.yaml": component + "patches:\n" + strings.Join(entries, "")}
}

// patchJob is a patches entry of one step.
func patchJob(step string) string {
	return "- target: {kind: Job}\n  patch: |-\n    - {" + step + "}\n"
}

func TestOverlayThatDoesNothingOrTooMuch(t *testing.T) {
	effect := patchJob("op: replace, path: /spec/backoffLimit, value: 7")
	worker := "/spec/template/spec/containers/0"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a target that is not there": {
			patches(effect, "- target: {kind: Deployment, name: web}\n  patch: |-\n    - {op: remove, path: /spec}\n"),
			[]string{"kustomization.yaml: patches[1]: no object matches target {kind: Deployment, name: web}", "--dry-run=client -o yaml"},
		},
		"a patch that says what is there": {
			patches(patchJob("op: replace, path: /spec/backoffLimit, value: 0"), effect),
			[]string{"patches[0]: no object matches target {kind: Job}, or it changes nothing"},
		},
		"the only patch has no effect": {
			patches(patchJob("op: replace, path: /spec/backoffLimit, value: 0")),
			[]string{"patches[0]: no object matches target {kind: Job}, or it changes nothing"},
		},
		"an image that is not used": {
			map[string]string{"kustomization.yaml": component + "images: [{name: other, newTag: v2}]\n"},
			[]string{"images[0]: no object matches image other"},
		},
		"a replacement without a target": {
			map[string]string{"kustomization.yaml": component + "replacements:\n- source: {kind: Job, fieldPath: metadata.name}\n  targets:\n  - select: {kind: Pod}\n    fieldPaths: [metadata.name]\n"},
			[]string{"replacements[0]: no object matches targets {kind: Pod}"},
		},
		"a part deep inside": {
			map[string]string{
				"kustomization.yaml": component + "components: [part]\nlabels: [{pairs: {a: b}}]\n", "part/kustomization.yml": patches("- target: {kind: Pod}\n  patch: |-\n    - {op: remove, path: /spec}\n")["kustomization.yaml"],
			},
			[]string{"part/kustomization.yml: patches[0]: no object matches target {kind: Pod}"},
		},
		"nothing that has an effect": {
			map[string]string{"kustomization.yaml": component + "generatorOptions: {labels: {a: b}}\n"},
			[]string{"it changes nothing"},
		},
		"a field that Kubernetes does not know": {
			patches(patchJob("op: add, path: " + worker + "/comand, value: [x]")),
			[]string{`it creates a Job`, `unknown field "spec.template.spec.containers[0].comand"`},
		},
		"a value of the wrong type": {
			patches(patchJob("op: replace, path: /spec/backoffLimit, value: many")),
			[]string{"that is invalid: json: cannot unmarshal"},
		},
		"an object of another namespace": {
			map[string]string{"kustomization.yaml": component + "resources: [more]\n", "more/kustomization.yaml": "resources: [x.yaml]\n",
				"more/x.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: y, namespace: other}\n"},
			[]string{"more/x.yaml: Secret y has the namespace other, but objects of an overlay are in the namespace of the job, default: remove metadata.namespace, or use -n other"},
		},
		"the job in another namespace":  {patches(patchJob("op: replace, path: /metadata/namespace, value: mine")), []string{"or it changes nothing"}},
		"the job renamed":               {patches(patchJob("op: replace, path: /metadata/name, value: mine")), []string{"it removes or renames the job kinetic-test-"}},
		"everything renamed":            {map[string]string{"kustomization.yaml": component + "namePrefix: x-\n"}, []string{"it removes or renames the job kinetic-test-"}},
		"the job's id":                  {patches(patchJob("op: replace, path: /metadata/labels/job-id, value: mine")), []string{"the job's label job-id", `to "mine"`}},
		"the pod's id":                  {patches(patchJob("op: remove, path: /spec/template/metadata/labels/job-id")), []string{"the pod's label job-id"}},
		"the label app":                 {map[string]string{"kustomization.yaml": component + "labels: [{pairs: {app: mine}}]\n"}, []string{"the job's label app", `to "mine"`}},
		"the container renamed":         {patches(patchJob("op: replace, path: " + worker + "/name, value: mine")), []string{"it removes or renames the container kinetic-worker"}},
		"the command":                   {patches(patchJob("op: replace, path: " + worker + "/command, value: [sh]")), []string{"the command of container kinetic-worker", `to ["sh"]`}},
		"the mount removed":             {patches(patchJob("op: remove, path: " + worker + "/volumeMounts/0")), []string{"the mount of the runner at /app/remote_runner.py"}},
		"the mount elsewhere":           {patches(patchJob("op: replace, path: " + worker + "/volumeMounts/0/mountPath, value: /x")), []string{"the mount of the runner at /app/remote_runner.py"}},
		"the volume of another":         {patches(patchJob("op: replace, path: /spec/template/spec/volumes/0/configMap/name, value: mine")), []string{"the volume runner of the runner"}},
		"another runner":                {patches("- target: {kind: ConfigMap}\n  patch: |-\n    - {op: replace, path: /binaryData/remote_runner.py, value: cGFzcw==}\n"), []string{"it changes binaryData of the ConfigMap kinetic-runner-"}},
		"a second runner":               {patches("- target: {kind: ConfigMap}\n  patch: |-\n    - {op: add, path: /data, value: {remote_runner.py: pass}}\n"), []string{"it changes data of the ConfigMap kinetic-runner-"}},
		"a runner that changes":         {patches("- target: {kind: ConfigMap}\n  patch: |-\n    - {op: remove, path: /immutable}\n"), []string{"it changes immutable of the ConfigMap kinetic-runner-"}},
		"no runner":                     {patches("- target: {kind: ConfigMap}\n  patch: |-\n    $patch: delete\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: any}\n"), []string{"it removes or renames the ConfigMap kinetic-runner-"}},
		"a patch that can't be applied": {patches(patchJob("op: replace, path: /spec/nothing/here, value: 1")), []string{"with overlay", ": the step replace of a patch does not apply: this job does not have /spec/nothing/here"}},
		"a list that is not there":      {patches(patchJob("op: add, path: /spec/template/spec/hostAliases/-, value: {ip: 10.0.0.1}")), []string{": a patch adds to the list /spec/template/spec/hostAliases, which this job does not have: add the whole list, with the path /spec/template/spec/hostAliases"}},
		"a map that is not there":       {patches(patchJob("op: add, path: /spec/template/spec/dnsConfig/options, value: []")), []string{": a patch adds /spec/template/spec/dnsConfig/options, but this job does not have /spec/template/spec/dnsConfig: add that as a whole"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := mustOverlay(t, c.files)
			_, _, err := render(family["l4"], o, testRunner, false)
			wantError(t, err, append(c.want, o.dir)...)
		})
	}
}

// The pods of a LeaderWorkerSet are as much of a job as those of a Job.
func TestOverlayOfALeaderWorkerSet(t *testing.T) {
	set := func(step string) string {
		return "- target: {kind: LeaderWorkerSet}\n  patch: |-\n    - {" + step + "}\n"
	}
	const template, merge = "/spec/leaderWorkerTemplate/", "kind: LeaderWorkerSet\nmetadata: {name: any}\nspec: {}\n"
	const lost = "would replace the list of containers of a LeaderWorkerSet"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // a line of the output, or part of an error
	}{
		"a JSON patch": {patches(set("op: add, path: " + template + "workerTemplate/spec/hostNetwork, value: true")), "        hostNetwork: true\n"},
		"a generated ConfigMap, by its name with a hash": {
			map[string]string{"kustomization.yaml": component + "configMapGenerator: [{name: extra, literals: [a=b]}]\npatches:\n" +
				set("op: add, path: "+template+"leaderTemplate/spec/containers/0/envFrom, value: [{configMapRef: {name: extra}}]")},
			"              name: extra-4h2mbtbbt6\n",
		},
		"labels of the pods": {map[string]string{"kustomization.yaml": component + "labels: [{pairs: {team: vision}, includeTemplates: true}]\n"}, "          team: vision\n"},
		"a strategic merge":  {map[string]string{"kustomization.yaml": component + "patches: [{path: sub/p.yaml}]\n", "sub/p.yaml": "apiVersion: leaderworkerset.x-k8s.io/v1\n" + merge}, lost},
		"a strategic merge of a second object": {map[string]string{"kustomization.yaml": component + "patches: [{path: p.yaml}]\n",
			"p.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: any}\n---\napiVersion: leaderworkerset.x-k8s.io/v1\n" + merge}, lost},
		"a strategic merge in a list": {map[string]string{"kustomization.yaml": component + "patches: [{path: p.yaml}]\n",
			"p.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: any}}\n"}, lost},
		"a strategic merge by its target":  {patches("- target: {kind: Leader.*}\n  patch: |-\n    kind: any\n    metadata: {name: any}\n"), lost},
		"a strategic merge of everything":  {patches("- target: {labelSelector: job-id}\n  patch: |-\n    kind: any\n    metadata: {name: any}\n"), lost},
		"a field that pods do not have":    {patches(set("op: add, path: " + template + "workerTemplate/spec/hostNetwrok, value: true")), `unknown field "spec.hostNetwrok"`},
		"another size":                     {patches(set("op: replace, path: " + template + "size, value: 3")), `the job's spec.leaderWorkerTemplate.size, which kinetic needs, from "4" to "3"`},
		"no restart of the group":          {patches(set("op: replace, path: " + template + "restartPolicy, value: None")), `the job's spec.leaderWorkerTemplate.restartPolicy, which kinetic needs, from "RecreateGroupOnPodRestart" to "None"`},
		"the leader's probe":               {patches(set("op: remove, path: " + template + "leaderTemplate/spec/containers/0/readinessProbe")), "the readinessProbe of container kinetic-worker"},
		"the leader's token":               {patches(set("op: replace, path: " + template + "leaderTemplate/spec/automountServiceAccountToken, value: false")), "the token that the leader needs to end the job"},
		"the command of the workers":       {patches(set("op: replace, path: " + template + "workerTemplate/spec/containers/0/command, value: [sh]")), "the command of container kinetic-worker"},
		"the label of the workers":         {patches(set("op: remove, path: " + template + "workerTemplate/metadata/labels/job-id")), "the pod's label job-id"},
		"a Job, which is not there":        {patches(patchJob("op: replace, path: /spec/backoffLimit, value: 7")), "no object matches target {kind: Job}"},
		"a queue":                          {patches(set("op: add, path: /metadata/labels/kueue.x-k8s.io~1queue-name, value: a")), `LeaderWorkerSet, whose name may be too long for Kueue, to "a": use --queue instead`},
		"the set renamed":                  {patches(set("op: replace, path: /metadata/name, value: mine")), "it removes or renames the job keras-pathways-test-"},
		"the Role, which the job may lack": {patches("- target: {kind: Role}\n  patch: |-\n    - {op: add, path: /metadata/labels/team, value: vision}\n"), "    team: vision\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _, err := render(family["lws-cpu-4hosts"], mustOverlay(t, c.files), testRunner, false)
			if strings.HasSuffix(c.want, "\n") {
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(r.YAML()), c.want) {
					t.Errorf("no line %q in\n%s", c.want, r.YAML())
				}
				return
			}
			wantError(t, err, c.want)
		})
	}
}

// Nodes of a ComputeClass are made by its rules: a selector of an accelerator beside it
// finds none.
func TestOverlayThatSelectsBesidesAComputeClass(t *testing.T) {
	add := func(kind, spec, key, value string) map[string]string {
		return patches("- target: {kind: " + kind + "}\n  patch: |-\n    - {op: add, path: " + spec + "/nodeSelector/cloud.google.com~1" + key + ", value: " + value + "}\n")
	}
	const pod, workers = "/spec/template/spec", "/spec/leaderWorkerTemplate/workerTemplate/spec"
	for name, c := range map[string]struct {
		spec  string
		files map[string]string
		want  []string // nil where it is taken
	}{
		"a TPU":               {"v6e-8-class", add("Job", pod, "gke-tpu-accelerator", "tpu-v6e-slice"), []string{"the ComputeClass any-tpu and also cloud.google.com/gke-tpu-accelerator=tpu-v6e-slice, but the class alone decides which machines are used"}},
		"a topology":          {"lws-v6e-16-class", add("LeaderWorkerSet", workers, "gke-tpu-topology", "4x4"), []string{"any-tpu and also cloud.google.com/gke-tpu-topology=4x4"}},
		"a GPU":               {"gb200-class", add("Job", pod, "gke-accelerator", "nvidia-l4"), []string{"any-tpu and also cloud.google.com/gke-accelerator=nvidia-l4"}},
		"a class besides":     {"v6e-8", add("Job", pod, "compute-class", "mine"), []string{"ComputeClass mine and also cloud.google.com/gke-tpu-accelerator=tpu-v6e-slice", "--compute-class mine"}},
		"what GKE may choose": {"v6e-8-class", add("Job", pod, "gke-boot-disk", "pd-ssd"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := mustOverlay(t, c.files)
			_, _, err := render(family[c.spec], o, testRunner, false)
			if c.want != nil {
				wantError(t, err, c.want...)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// A patch that replaces a list or a map drops what it doesn't repeat.
func TestOverlayKeepsTolerationsAndSelectors(t *testing.T) {
	add := func(kind, path, value string) map[string]string {
		return patches("- target: {kind: " + kind + "}\n  patch: |-\n    - {op: add, path: " + path + ", value: " + value + "}\n")
	}
	const pod, workers = "/spec/template/spec", "/spec/leaderWorkerTemplate/workerTemplate/spec"
	const spot, topology = "/nodeSelector/cloud.google.com~1gke-spot", "/nodeSelector/cloud.google.com~1gke-tpu-topology"
	const team, list = "{key: team, operator: Exists}", "[{key: team, operator: Exists}]"
	merge := func(spec string) map[string]string {
		return patches("- target: {kind: Job}\n  patch: |-\n    kind: Job\n    metadata: {name: any}\n    spec: {template: {spec: {" + spec + "}}}\n")
	}
	class := func(name string) map[string]string {
		return patches(patchJob("op: add, path: "+pod+"/nodeSelector, value: {cloud.google.com/compute-class: "+name+"}"), patchJob("op: add, path: "+pod+"/tolerations, value: "+list))
	}
	for name, c := range map[string]struct {
		spec  string
		files map[string]string
		want  string // empty where it is taken
	}{
		"tolerations in the place of ours":     {"l4-spot", add("Job", pod+"/tolerations", list), "it removes the toleration of the taint cloud.google.com/gke-spot, without which the pods can't have their nodes: add to the list (/tolerations/-) instead of replacing it"},
		"the same by a strategic merge":        {"l4-spot", merge("tolerations: " + list), "the toleration of the taint cloud.google.com/gke-spot"},
		"one of them removed":                  {"l4-spot", patches(patchJob("op: remove, path: " + pod + "/tolerations/1")), "the toleration of the taint cloud.google.com/gke-spot"},
		"those of the workers":                 {"lws-v6e-16-slices", add("LeaderWorkerSet", workers+"/tolerations", list), "the toleration of the taint cloud.google.com/gke-spot"},
		"that of GPUs, which the cluster adds": {"l4", add("Job", pod+"/tolerations", list), ""},
		"any taint of spot nodes":              {"l4-spot", add("Job", pod+"/tolerations", "[{key: cloud.google.com/gke-spot, operator: Exists}]"), ""},
		"every taint":                          {"l4-spot", add("Job", pod+"/tolerations", "[{operator: Exists}]"), ""},
		"a toleration besides":                 {"l4-spot", add("Job", pod+"/tolerations/-", team), ""},
		"the first of a job without":           {"cpu", add("Job", pod+"/tolerations", list), ""},
		"a selector in the place of ours":      {"l4", add("Job", pod+"/nodeSelector", "{example.com/team: a}"), "it removes the selector cloud.google.com/gke-accelerator=nvidia-l4 of the pods, and adds example.com/team: add to the map (/nodeSelector/example.com~1team) instead of replacing it"},
		"that of the workers":                  {"lws-v6e-16-slices", add("LeaderWorkerSet", workers+"/nodeSelector", "{team: a}"), "it removes the selector cloud.google.com/gke-accelerator-count=4 of the pods, and adds team"},
		"one of Autopilot's classes":           {"cpu-spot", patches(patchJob("op: add, path: " + pod + "/nodeSelector, value: {cloud.google.com/compute-class: Balanced}")), "it removes the selector cloud.google.com/gke-spot=true of the pods, and adds cloud.google.com/compute-class"},
		"a selector besides":                   {"l4", add("Job", pod+"/nodeSelector/team", "a"), ""},
		"the same by strategic merge, besides": {"l4", merge("nodeSelector: {team: a}"), ""},
		"the first of a job without selector":  {"cpu", add("Job", pod+"/nodeSelector", "{team: a}"), ""},
		"spot nodes or others":                 {"l4-spot", patches(patchJob("op: remove, path: " + pod + spot)), ""},
		"another topology":                     {"lws-v6e-16-slices", add("LeaderWorkerSet", workers+topology, "2x8"), ""},
		"a ComputeClass instead":               {"l4-spot", class("mine"), ""},
		"a ComputeClass, other tolerations":    {"v6e-8-class", add("Job", pod+"/tolerations", list), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := render(family[c.spec], mustOverlay(t, c.files), testRunner, false)
			if c.want != "" {
				wantError(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// A part of a node pool is of no use to anybody: what keeps jobs from having one stays,
// whatever an overlay adds beside it.
func TestOverlayKeepsASliceInItsNodePool(t *testing.T) {
	set := func(step string) map[string]string {
		return patches("- target: {kind: LeaderWorkerSet}\n  patch: |-\n    - {" + step + "}\n")
	}
	const affinity, workers = "/spec/template/spec/affinity", "/spec/leaderWorkerTemplate/workerTemplate/spec/affinity"
	const nodes = "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists}]}]}}"
	const spread, list = "{topologyKey: rack, labelSelector: {matchLabels: {a: b}}}", "/requiredDuringSchedulingIgnoredDuringExecution"
	const topology = "/metadata/annotations/leaderworkerset.sigs.k8s.io~1"
	const lost = "it removes the affinity that keeps each slice in its own node pool: add to affinity/nodeAffinity or to the existing list instead"
	for name, c := range map[string]struct {
		spec  string
		files map[string]string
		want  string // empty where it is taken
	}{
		"an affinity in the place of ours": {"indexed-v6e-16", patches(patchJob("op: add, path: " + affinity + ", value: {nodeAffinity: " + nodes + "}")), lost},
		"a merge of a list": {"indexed-v6e-16", patches("- target: {kind: Job}\n  patch: |-\n    apiVersion: batch/v1\n    kind: Job\n    metadata: {name: any}\n" +
			"    spec: {template: {spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + spread + "]}}}}}\n"), lost},
		"hosts that need not be together":   {"indexed-v6e-16", patches(patchJob("op: remove, path: " + affinity + "/podAffinity")), ""},
		"hosts anywhere":                    {"indexed-v6e-16", patches(patchJob("op: remove, path: " + affinity)), ""},
		"the workers of a set":              {"lws-v6e-16-slices", set("op: remove, path: " + workers), ""},
		"a set's slice anywhere":            {"lws-v5p-16", set("op: remove, path: " + topology + "exclusive-topology"), ""},
		"a set's slice in another place":    {"lws-v5p-16", set("op: replace, path: " + topology + "exclusive-topology, value: rack"), "the job's annotation leaderworkerset.sigs.k8s.io/exclusive-topology"},
		"slices of a set in other places":   {"lws-v6e-16-slices", set("op: replace, path: " + topology + "subgroup-exclusive-topology, value: rack"), "the job's annotation leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"},
		"a rule for nodes":                  {"indexed-v6e-16", patches(patchJob("op: add, path: " + affinity + "/nodeAffinity, value: " + nodes)), ""},
		"one more rule for pods":            {"indexed-v6e-16", patches(patchJob("op: add, path: " + affinity + "/podAntiAffinity" + list + "/0, value: " + spread)), ""},
		"an affinity of hosts without pool": {"indexed-cpu-4hosts", patches(patchJob("op: add, path: " + affinity + ", value: {nodeAffinity: " + nodes + "}")), ""},
		"a set without pool in one rack":    {"lws-cpu-4hosts", set("op: add, path: " + topology + "exclusive-topology, value: rack"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := family[c.spec]
			_, _, err := render(s, mustOverlay(t, c.files), testRunner, false)
			if c.want != "" {
				wantError(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOverlayMayTakeASetOutOfItsQueue(t *testing.T) {
	s := family["lws-cpu-everything"]
	o := mustOverlay(t, patches("- target: {kind: LeaderWorkerSet}\n  patch: |-\n    - {op: remove, path: /metadata/labels/kueue.x-k8s.io~1queue-name}\n"))
	if _, _, err := render(s, o, testRunner, false); err != nil {
		t.Error(err)
	}
}
