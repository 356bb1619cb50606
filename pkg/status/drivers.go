package status

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Drivers returns the CSI drivers of the volumes in a workload's pods, sorted.
func Drivers(workload *unstructured.Unstructured) []string {
	var drivers []string
	for _, path := range KindOf(workload).PodTemplates {
		found, _, _ := unstructured.NestedMap(workload.Object, path...)
		var pod corev1.PodTemplateSpec
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found, &pod); err != nil {
			continue // the server says what is wrong with it
		}
		for _, v := range pod.Spec.Volumes {
			if v.CSI != nil {
				drivers = append(drivers, v.CSI.Driver)
			}
		}
	}
	slices.Sort(drivers)
	return slices.Compact(drivers)
}
