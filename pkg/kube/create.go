package kube

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// create creates an object, and tries again after errors that are transient: then it may exist already.
func (c *Cluster) create(ctx context.Context, o *unstructured.Unstructured, mode createMode) (made *unstructured.Unstructured, err error) {
	err = retry(ctx, func() error {
		made, err = c.client.createObject(ctx, c.collectionOf(o), o, mode)
		return err
	})
	return made, err
}

// get reads the object that has an object's name.
func (c *Cluster) get(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.client.getObject(ctx, c.collectionOf(o), o.GetName())
}

func (c *Cluster) dryRun(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if !isWorkload(o) && !isShared(o) {
		made, _, err := c.ensure(ctx, o, modeDryRun)
		return made, withoutPolicy(o, err)
	}
	made, err := c.create(ctx, o, modeDryRun)
	switch {
	case apierrors.IsAlreadyExists(err) && isShared(o):
		return o, nil
	case err != nil:
		return nil, err
	}
	return made, diagnose.CheckQueue(made)
}

// createWorkload creates the Job or LeaderWorkerSet. If an answer was lost, an existing workload may
// be the one that was just created. If the existing one was submitted by someone else and runs the
// same call, it is returned together with the error.
func (c *Cluster) createWorkload(ctx context.Context, workload *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	workload = signed(workload)
	var made *unstructured.Unstructured
	tries := 0
	err := retry(ctx, func() (err error) {
		tries++
		made, err = c.client.createObject(ctx, c.collectionOf(workload), workload, modeCreate)
		return err
	})
	switch {
	case err == nil:
		return made, nil
	case apierrors.IsAlreadyExists(err):
		return c.taken(ctx, workload, tries > 1, err)
	case tries > 1 || tries == 1 && !apiserver.Refused(err): // an answer was lost, or could not be read
		return nil, errors.Join(err, c.withdraw(ctx, workload))
	}
	return nil, err
}

// taken examines the workload that already has the name: it may be ours.
func (c *Cluster) taken(ctx context.Context, workload *unstructured.Unstructured, retried bool, refusal error) (*unstructured.Unstructured, error) {
	refusal = fmt.Errorf("job %s: %w", workload.GetName(), errors.Join(fs.ErrExist, refusal))
	found, err := c.get(ctx, workload)
	switch {
	case err != nil && retried && !apierrors.IsNotFound(err):
		return nil, mayRun(err)
	case err == nil && retried && sameSubmit(found, workload):
		return found, nil
	case err != nil || !sameCall(found, workload):
		return nil, refusal
	}
	return found, errors.Join(refusal, api.ErrMayRun)
}

// signed returns a copy of a workload with a word of this submit, by which it is recognized after a
// lost answer. Nothing else would do: webhooks change arguments, and others submit the same call.
func signed(workload *unstructured.Unstructured) *unstructured.Unstructured {
	workload = workload.DeepCopy()
	annotations := workload.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[api.AnnotationSubmit] = rand.Text()
	workload.SetAnnotations(annotations)
	return workload
}

// sameSubmit reports whether a workload that was found is the one that was signed.
func sameSubmit(found, signed *unstructured.Unstructured) bool {
	return found.GetAnnotations()[api.AnnotationSubmit] == signed.GetAnnotations()[api.AnnotationSubmit]
}

func sameCall(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(workerArgs(a), workerArgs(b))
}

func workerArgs(workload *unstructured.Unstructured) any {
	templates := diagnose.KindOf(workload).PodTemplates
	for _, c := range containersOf(workload, templates[0]) {
		if c["name"] == api.ContainerName {
			return c["args"]
		}
	}
	return nil
}

// undoTime is how long cleaning up after a failed start may take.
const undoTime = 10 * time.Second

// withdraw removes a workload if the request to create it got no answer, so that it may exist.
func (c *Cluster) withdraw(ctx context.Context, workload *unstructured.Unstructured) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	found, err := c.get(bounded, workload)
	switch {
	case err == nil && sameSubmit(found, workload):
		return c.undo(ctx, found)
	case err == nil || apierrors.IsNotFound(err):
		return nil
	}
	return mayRun(err)
}

func (c *Cluster) undo(ctx context.Context, workload *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	err := c.client.removeObject(ctx, c.collectionOf(workload), workload.GetName(), workload.GetUID(), metav1.DeletePropagationBackground)
	if err == nil || isGone(err) {
		return nil
	}
	return mayRun(err)
}

func mayRun(err error) error {
	return fmt.Errorf("the job may have been created: %w", errors.Join(api.ErrMayRun, err))
}
