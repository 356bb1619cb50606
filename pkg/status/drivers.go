package status

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/gcsfuse"
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

// NoDriver returns the error for a cluster that lacks a CSI driver. The API server accepts a pod
// with a volume of such a driver, which then never starts.
func NoDriver(driver string) error {
	if driver == gcsfuse.Driver {
		return errors.New("this cluster can't mount buckets, because its add-on for GCS FUSE is off: turn it on with " +
			"gcloud container clusters update CLUSTER --update-addons GcsFuseCsiDriver=ENABLED --location LOCATION, or omit fuse to copy the files")
	}
	return fmt.Errorf("this cluster has no CSI driver %s, which a volume of the job needs: install it, or omit the volume", driver)
}
