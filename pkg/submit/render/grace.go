package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// graceFlag is the runner's first argument: how many seconds the call may continue after
// SIGTERM.
const graceFlag = "--grace"

// grace returns the value of graceFlag for a pod: five sixths of its
// terminationGracePeriodSeconds, and at least 3 seconds less than it, so that the runner
// can save logs and outputs.
func grace(pod corev1.PodSpec) int64 {
	period := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if pod.TerminationGracePeriodSeconds != nil {
		period = *pod.TerminationGracePeriodSeconds
	}
	return max(period-max(period/6, 3), 0)
}

// followGrace passes a termination grace period that an overlay set on to the runner. It
// reports whether the tree has changed. Without an overlay, base and components already
// agree.
func (t tree) followGrace(s api.Spec, r Rendered) (changed bool, err error) {
	workload, err := workloadOf(r, s.JobName())
	if err != nil {
		return false, err
	}
	pods, err := podsOf(workload)
	if err != nil {
		return false, err
	}
	var p patch
	for _, place := range slices.Sorted(maps.Keys(pods)) {
		spec := pods[place].Spec
		i := slices.IndexFunc(spec.Containers, isWorker)
		if i < 0 {
			continue // a TPU host of the Pathways runtime has no runner
		}
		at := fmt.Sprintf("/%s/spec/containers/%d/args", strings.ReplaceAll(place, ".", "/"), i)
		if seconds := strconv.FormatInt(grace(spec), 10); spec.Containers[i].Args[1] != seconds {
			p.test(at+"/0", graceFlag)
			p.replace(at+"/1", seconds)
		}
	}
	if p == nil {
		return false, nil
	}
	kind := resid.Gvk{Group: workload.GroupVersionKind().Group, Kind: workload.GetKind()}
	if err := t.putComponent(graceDir, s.ID, []kindPatch{{kind, patchFile, p}}); err != nil {
		return false, err
	}
	whole, err := parseKustomization(t[kustomizationFile])
	if err != nil {
		return false, err
	}
	whole.Components = append(whole.Components, graceDir)
	return true, t.put(kustomizationFile, s.ID, whole)
}
