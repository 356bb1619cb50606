package render

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Base and components, which kustomize alone can't calculate, agree with the rule.
func TestGraceOfBaseAndComponents(t *testing.T) {
	for name, s := range family {
		for place, pod := range mustPods(t, mustRender(t, s), s) {
			if worker(pod.Spec) == nil {
				continue // a TPU host of the Pathways runtime
			}
			if got := graceOf(t, pod.Spec); got != grace(pod.Spec) {
				t.Errorf("%s: %s: --grace %d, want %d", name, place, got, grace(pod.Spec))
			}
		}
	}
}

func graceOf(t *testing.T, pod corev1.PodSpec) (seconds int64) {
	t.Helper()
	args := worker(pod).Args
	if args[0] != graceFlag {
		t.Fatalf("the first argument is %s", args[0])
	}
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seconds
}

func TestGraceFollowsAnOverlay(t *testing.T) {
	period := func(kind, at, step string) string {
		return "- target: {kind: " + kind + "}\n  patch: |-\n    - {op: " + step + ", path: " + at + "/spec/terminationGracePeriodSeconds" + "}\n"
	}
	const set, leader, workers = "LeaderWorkerSet", "/spec/leaderWorkerTemplate/leaderTemplate", "/spec/leaderWorkerTemplate/workerTemplate"
	for name, c := range map[string]struct {
		spec    string
		patches []string
		want    []int64 // of the pods, a leader's first
	}{
		"longer":                  {"cpu-spot", []string{period("Job", "/spec/template", "replace, value: 110")}, []int64{92}},
		"an hour":                 {"l4", []string{period("Job", "/spec/template", "replace, value: 3600")}, []int64{3000}},
		"shorter":                 {"l4-map-everything", []string{period("Job", "/spec/template", "replace, value: 10")}, []int64{7}},
		"none":                    {"cpu", []string{period("Job", "/spec/template", "replace, value: 0")}, []int64{0}},
		"the default":             {"cpu-spot", []string{period("Job", "/spec/template", "remove")}, []int64{25}},
		"the same":                {"cpu-spot", []string{period("Job", "/spec/template", "replace, value: 16")}, []int64{13}},
		"behind a sidecar":        {"cpu", []string{period("Job", "/spec/template", "replace, value: 60"), patchJob("op: add, path: /spec/template/spec/containers/0, value: {name: side, image: side}")}, []int64{50}},
		"all hosts of a set":      {"lws-v5p-16", []string{period(set, leader, "replace, value: 60"), period(set, workers, "replace, value: 60")}, []int64{50, 50}},
		"the workers of a set":    {"lws-cpu-4hosts", []string{period(set, workers, "replace, value: 60")}, []int64{25, 50}},
		"the head of Pathways":    {"pathways-v6e-16", []string{period(set, leader, "replace, value: 60"), period(set, workers, "replace, value: 90")}, []int64{50}},
		"hosts of an Indexed Job": {"indexed-v6e-16", []string{period("Job", "/spec/template", "replace, value: 60")}, []int64{50}},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := family[c.spec], mustOverlay(t, patches(c.patches...))
			r, _, err := render(s, o, testRunner, false)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			pods := mustPods(t, r, s)
			for _, place := range slices.Sorted(maps.Keys(pods)) {
				if worker(pods[place].Spec) != nil {
					got = append(got, graceOf(t, pods[place].Spec))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("seconds (-want +got):\n%s", diff)
			}
			dir := filepath.Join(t.TempDir(), "written")
			_, files, err := render(s, o, testRunner, true)
			if err != nil {
				t.Fatal(err)
			}
			if err := WriteOverlay(dir, files); err != nil {
				t.Fatal(err)
			}
			if err := WriteOverlay(dir, files); err != nil {
				t.Errorf("it may not be replaced: %v", err)
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
				t.Errorf("-memory +disk:\n%s", diff)
			}
		})
	}
}
