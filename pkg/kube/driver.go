package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// CheckDrivers finds out early if the cluster lacks the CSI driver of a volume in a workload's
// pods: the API server accepts such a pod, which then never starts.
func (c volumeChecker) CheckDrivers(ctx context.Context, workload *unstructured.Unstructured) error {
	for _, driver := range drivers(workload) {
		var found metav1.PartialObjectMetadata
		err := c.Get(ctx, &found, "/apis/storage.k8s.io/v1/csidrivers", driver)
		switch {
		case apierrors.IsNotFound(err):
			return noDriver(driver)
		case apierrors.IsForbidden(err): // other failures are left to the next request
			c.Say("warning: can't check that this cluster has the driver %s before the job starts: no permission to read CSIDrivers", driver)
		}
	}
	return nil
}

// drivers returns the CSI drivers of the volumes in a workload's pods, sorted.
func drivers(workload *unstructured.Unstructured) []string {
	var found []string
	sets, _ := diagnose.PodSets(workload) // the server says what is wrong with it
	for _, pods := range sets {
		for _, v := range pods.Spec.Volumes {
			if v.CSI != nil {
				found = append(found, v.CSI.Driver)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func noDriver(driver string) error {
	if driver == diagnose.Driver {
		return errors.New("this cluster can't mount buckets, because its Cloud Storage FUSE add-on is off: turn it on with " +
			"gcloud container clusters update CLUSTER --update-addons GcsFuseCsiDriver=ENABLED --location LOCATION, or omit fuse to copy the files")
	}
	return fmt.Errorf("this cluster has no CSI driver %s, which a volume of the job needs: install it, or omit the volume", driver)
}
