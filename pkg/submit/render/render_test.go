package render

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// mustRender renders without an overlay.
func mustRender(t *testing.T, s api.Spec) Rendered {
	t.Helper()
	r, _, err := render(s, Overlay{}, testRunner, false)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustPods decodes the pods of the workload strictly, by where they stand in it.
func mustPods(t *testing.T, r Rendered, s api.Spec) map[string]corev1.PodTemplateSpec {
	t.Helper()
	workload, err := workloadOf(r, s.JobName())
	if err != nil {
		t.Fatal(err)
	}
	pods, err := podsOf(workload)
	if err != nil {
		t.Fatal(err)
	}
	return pods
}

// checkReferences makes sure that what the objects name is there: what pods mount
// in the set, secrets in the one that submit creates, names of each other.
func checkReferences(t *testing.T, r Rendered, s api.Spec) {
	t.Helper()
	for _, o := range r.objects {
		if o.GetNamespace() != s.Namespace {
			t.Errorf("%s %s is in namespace %q", o.GetKind(), o.GetName(), o.GetNamespace())
		}
		if o.GetKind() != "ConfigMap" && (o.GetLabels()[api.LabelJobID] != s.ID || o.GetName() != s.JobName()) {
			t.Errorf("%s %s with labels %v is not found as job %s", o.GetKind(), o.GetName(), o.GetLabels(), s.ID)
		}
		if _, queued := o.GetLabels()[api.LabelQueue]; queued && o.GetKind() != jobKind.Kind && o.GetKind() != leaderWorkerSetKind.Kind {
			t.Errorf("%s %s is in a queue, and only a workload waits", o.GetKind(), o.GetName())
		}
		for _, name := range namesIn(o) {
			if name != s.JobName() && !isPodOf(s, name) {
				t.Errorf("%s %s names %q, which is not there", o.GetKind(), o.GetName(), name)
			}
		}
	}
	for place, pod := range mustPods(t, r, s) {
		for _, v := range pod.Spec.Volumes {
			if v.ConfigMap != nil && configMap(r, v.ConfigMap.Name) == nil {
				t.Errorf("%s: volume %s: there is no ConfigMap %s", place, v.Name, v.ConfigMap.Name)
			}
		}
		if w := worker(pod.Spec); w != nil { // else the pod is the runtime's
			checkSecrets(t, *w, s)
		}
		if subdomain := pod.Spec.Subdomain; subdomain != "" && subdomain != s.JobName() {
			t.Errorf("%s: there is no Service %s", place, subdomain)
		}
	}
}

// isPodOf reports whether a name is that of one of the pods which the leader of a job with the Pathways runtime reads.
func isPodOf(s api.Spec, name string) bool {
	index, ok := strings.CutPrefix(name, s.JobName()+"-0")
	return s.Pathways != nil && ok && (index == "" || strings.HasPrefix(index, "-"))
}

// namesIn are the names of the job's other objects that an object has.
func namesIn(o *unstructured.Unstructured) []string {
	var names []string
	for _, field := range [][]string{{"roleRef", "name"}, {"spec", "selector", batchv1.JobNameLabel}} {
		if name, found, _ := unstructured.NestedString(o.Object, field...); found {
			names = append(names, name)
		}
	}
	rules, _, _ := unstructured.NestedSlice(o.Object, "rules")
	for _, rule := range rules {
		of, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resourceNames")
		names = append(names, of...)
	}
	return names
}

func checkSecrets(t *testing.T, c corev1.Container, s api.Spec) {
	t.Helper()
	var secrets []string
	for _, e := range c.Env {
		if e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil {
			continue
		}
		if e.ValueFrom.SecretKeyRef.Name != s.SecretName() {
			t.Errorf("env %s: secret %s is not %s", e.Name, e.ValueFrom.SecretKeyRef.Name, s.SecretName())
		}
		secrets = append(secrets, e.ValueFrom.SecretKeyRef.Key)
	}
	want := s.SecretEnv
	if s.Hosts > 1 {
		want = append(slices.Clone(want), api.Contract.Names.GroupKey)
	}
	if !slices.Equal(secrets, want) {
		t.Errorf("keys of the secret: got %q, want %q", secrets, want)
	}
}

// checkNoise finds what doesn't belong into a manifest for people.
func checkNoise(t *testing.T, value any, path string) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		if name := filepath.Base(path); len(v) == 0 && name != "emptyDir" && name != "namespaceSelector" {
			t.Errorf("%s is an empty map", path)
		}
		for key, inner := range v {
			if key == "status" && path == "Job" || key == "creationTimestamp" {
				t.Errorf("%s has %s", path, key)
			}
			checkNoise(t, inner, path+"/"+key)
		}
	case []any:
		if len(v) == 0 {
			t.Errorf("%s is an empty list", path)
		}
		for _, inner := range v {
			checkNoise(t, inner, path)
		}
	case nil:
		t.Errorf("%s is null", path)
	}
}

// The annotations of a set are the texts that they are.
func TestAnnotationsOfASet(t *testing.T) {
	for _, text := range append(hostile, "5", "1e3", "lines\nof\n") {
		s := testSpec(cpu, hosts(2), lws(1), func(s *api.Spec) {
			s.Name, s.Annotations = text, map[string]string{"a.b/c": text}
		})
		set, err := workloadOf(mustRender(t, s), s.JobName())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(annotations(s, testRunner), set.GetAnnotations()); diff != "" {
			t.Errorf("%.40q: -want +got:\n%s", text, diff)
		}
	}
}

// The same input gives the same bytes, whatever order maps have.
func TestRenderIsStable(t *testing.T) {
	s := family["v6e-8-everything"]
	first := mustRender(t, s)
	for range 5 {
		if again := mustRender(t, s); !bytes.Equal(first.YAML(), again.YAML()) {
			t.Fatal(cmp.Diff(string(first.YAML()), string(again.YAML())))
		}
	}
}

func TestFormatsAgree(t *testing.T) {
	s := family["l4-everything"]
	r := mustRender(t, s)
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		APIVersion, Kind string
		Items            []map[string]any
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	if list.APIVersion != "v1" || list.Kind != "List" || len(list.Items) != 2 {
		t.Errorf("got %s %s with %d items, want a v1 List with 2", list.APIVersion, list.Kind, len(list.Items))
	}
	want := []string{"job.batch/" + s.JobName(), "configmap/kinetic-runner-" + testRunner.sha256}
	if diff := cmp.Diff(want, r.Names()); diff != "" {
		t.Errorf("names -want +got:\n%s", diff)
	}
	for i, o := range r.Objects() {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(object, list.Items[i]); diff != "" {
			t.Errorf("item %d -object +JSON:\n%s", i, diff)
		}
	}
}

// What --write-overlay leaves behind is what --dry-run prints, for our
// kustomize and for the one in kubectl.
func TestWrittenOverlayBuildsToTheSameBytes(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Log("no kubectl on PATH: krusty alone")
	}
	user := mustOverlay(t, map[string]string{
		"kustomization.yml": component + "resources: [extra.yaml]\npatches:\n- path: p.yaml\n  target: {kind: Job|LeaderWorkerSet}\n",
		"extra.yaml":        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: extra\n",
		"p.yaml":            "- {op: add, path: /metadata/annotations/example.com~1added, value: by overlay}\n",
	})
	for name, s := range family {
		overlays := []Overlay{{}}
		if strings.HasSuffix(name, "-everything") {
			overlays = append(overlays, user)
		}
		for _, o := range overlays {
			dir := filepath.Join(t.TempDir(), "overlay")
			r, _, err := render(s, o, testRunner, false)
			if err != nil {
				t.Fatal(err)
			}
			_, files, err := render(s, o, testRunner, true)
			if err != nil {
				t.Fatal(err)
			}
			if err := WriteOverlay(dir, files); err != nil {
				t.Fatal(err)
			}
			resources, err := kustomize(filesys.MakeFsOnDisk(), dir)
			if err != nil {
				t.Fatal(err)
			}
			disk, err := resources.AsYaml()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(r.YAML()), string(disk)); diff != "" {
				t.Errorf("%s: -memory +disk:\n%s", name, diff)
			}
			if kubectl == "" || !strings.HasSuffix(name, "-everything") { // it takes a while to start
				continue
			}
			out, err := exec.Command(kubectl, "kustomize", dir).CombinedOutput()
			if err != nil {
				t.Fatalf("kubectl kustomize: %v\n%s", err, out)
			}
			if diff := cmp.Diff(string(r.YAML()), string(out)); diff != "" {
				t.Errorf("%s: -memory +kubectl:\n%s", name, diff)
			}
		}
	}
}

// TestObjectsMountTheRunner: every pod of every job mounts the one zip.
func TestObjectsMountTheRunner(t *testing.T) {
	for name, s := range family {
		t.Run(name, func(t *testing.T) {
			r, err := Objects(s, Overlay{})
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(configMap(r, "kinetic-runner-"+runner.SHA256()))
			if err != nil {
				t.Fatal(err)
			}
			var cm corev1.ConfigMap
			if err := json.Unmarshal(text, &cm); err != nil {
				t.Fatal(err)
			}
			if len(cm.Data) != 0 || len(cm.BinaryData) != 1 || !bytes.Equal(cm.BinaryData["remote_runner.py"], runner.Zip()) || !*cm.Immutable {
				t.Error("the ConfigMap does not hold the zip alone, for good")
			}
			if cm.Labels[api.LabelJobID] != "" {
				t.Error("the ConfigMap, which jobs share, names one of them")
			}
			workload, err := workloadOf(r, s.JobName())
			if err != nil {
				t.Fatal(err)
			}
			for _, annotations := range []map[string]string{cm.Annotations, workload.GetAnnotations()} {
				if annotations["kubectl-kinetic.github.io/runner-sha256"] != runner.SHA256() || annotations["kubectl-kinetic.github.io/runner-version"] != s.ClientVersion {
					t.Errorf("hash and version of the runner are not among %q", annotations)
				}
			}
			for where, pod := range mustPods(t, r, s) {
				if worker(pod.Spec) == nil { // a pod of the Pathways runtime
					continue
				}
				mount := corev1.VolumeMount{Name: "runner", MountPath: "/app/remote_runner.py", SubPath: "remote_runner.py", ReadOnly: true}
				if !slices.Contains(worker(pod.Spec).VolumeMounts, mount) {
					t.Errorf("%s does not mount the runner: %v", where, worker(pod.Spec).VolumeMounts)
				}
				if v := volume(pod.Spec, "runner"); v.ConfigMap == nil || v.ConfigMap.Name != cm.Name {
					t.Errorf("%s has the volume %v, want ConfigMap %s", where, v, cm.Name)
				}
			}
		})
	}
}

// TestPeopleCanReadADryRun: the runner is one line, at the end.
func TestPeopleCanReadADryRun(t *testing.T) {
	s := family["cpu"]
	r, err := Objects(s, Overlay{})
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(r.YAML(), []byte("\n")); lines > 140 {
		t.Errorf("%d lines, want at most 140", lines)
	}
	if first := r.Names()[0]; first != "job.batch/"+s.JobName() {
		t.Errorf("%s comes first, want the Job", first)
	}
}

// Jobs on one host don't wait for kustomize. What it would print is tested with the files.
func TestJobsOnOneHostAreOnlyPatched(t *testing.T) {
	for name, s := range family {
		files, err := generate(s, Overlay{}, testRunner, false)
		if err != nil {
			t.Fatal(err)
		}
		_, ok, err := files.patchedJob()
		if want := s.Hosts == 1 && s.Backend == api.BackendGKE; ok != want || err != nil {
			t.Errorf("%s: only patched: %v, %v; want %v", name, ok, err, want)
		}
	}
}
