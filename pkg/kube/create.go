package kube

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// parts are the objects to apply, by what becomes of them.
type parts struct {
	// workload runs the pods: a Job or a LeaderWorkerSet.
	workload *unstructured.Unstructured
	// shared is used by other jobs too, and stays.
	shared []*unstructured.Unstructured
	// owned goes when the workload goes.
	owned []*unstructured.Unstructured
}

// split sorts the objects to apply.
func (w *Cluster) split() (parts, error) {
	var p parts
	for _, o := range w.objects {
		switch {
		case isWorkload(o):
			p.workload = o
		case isShared(o):
			p.shared = append(p.shared, o)
		default:
			p.owned = append(p.owned, o)
		}
	}
	if p.workload == nil {
		return p, errors.New("there is neither a Job nor a LeaderWorkerSet among the objects to apply")
	}
	return p, nil
}

func isWorkload(o *unstructured.Unstructured) bool {
	return status.KindOf(o) != nil && o.GetLabels()[api.LabelJobID] != ""
}

func isShared(o *unstructured.Unstructured) bool {
	return o.GetKind() == "ConfigMap" && strings.HasPrefix(o.GetName(), api.RunnerPrefix)
}

// Ready makes what the job will share with others. It needs nothing of the job
// itself, so it can be done beside the upload, and finds out early that a cluster
// can't be reached, or has no such namespace, or that a quota never lets the job run.
func (w *Cluster) Ready(ctx context.Context) error {
	p, err := w.split()
	if err != nil {
		return err
	}
	if err := w.locate(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.checkQuotas(ctx, p.workload) })
	g.Go(func() error { w.checkKueue(ctx, p.workload); return nil })
	g.Go(func() error { w.keyComes = w.mayPutKey(ctx, p.workload); return nil })
	for _, o := range p.shared {
		g.Go(func() error {
			mayGo, err := w.createRunner(ctx, o)
			if mayGo {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.mayGo = append(w.mayGo, o)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	w.ready = true
	return nil
}

// Start creates the Job or LeaderWorkerSet, then what it owns, the Secret among it, after
// Ready if that has not been called. The Secret does not come first: the name of the workload
// decides which of several submits makes it, and its owner removes it, whatever becomes of this
// process. Hosts that are faster wait for it.
//
// A workload of this name that is there already is an error that is fs.ErrExist, and
// api.ErrMayRun too if it runs the same call: then it gets what it owns all the same, for its
// submit may have been cut off. A start that fails removes what it made.
func (w *Cluster) Start(ctx context.Context, spec api.Spec, secrets map[string]string) error {
	p, err := w.split()
	if err != nil {
		return err
	}
	if !w.ready {
		if err := w.Ready(ctx); err != nil {
			return err
		}
	}
	asked := p.workload
	if _, keyed := secrets[api.EnvGroupKey]; keyed && w.keyComes {
		asked = awaitingKey(asked)
	}
	workload, taken := w.createWorkload(ctx, asked)
	if workload == nil {
		return taken
	}
	if err := status.CheckQueue(workload); err != nil && taken == nil {
		return errors.Join(err, w.undo(ctx, workload))
	}
	owner := metav1.OwnerReference{APIVersion: workload.GetAPIVersion(), Kind: workload.GetKind(), Name: workload.GetName(), UID: workload.GetUID()}
	g, gctx := errgroup.WithContext(ctx)
	var rights []*unstructured.Unstructured
	for _, o := range p.owned {
		if isRelease(o, workload) {
			rights = append(rights, o)
			continue
		}
		g.Go(func() error { return w.own(gctx, o, owner) })
	}
	g.Go(func() error { return w.allowRelease(gctx, rights, owner) })
	for _, o := range w.mayGo {
		g.Go(func() error { w.keepRunner(gctx, o); return nil })
	}
	if len(secrets) > 0 {
		secret := secretOf(spec, workload, secrets)
		secret.SetOwnerReferences([]metav1.OwnerReference{owner})
		g.Go(func() error { return w.putSecrets(gctx, secret, secrets, taken != nil) })
	}
	switch err := g.Wait(); {
	case err == nil:
		return taken
	case taken != nil:
		return errors.Join(err, api.ErrMayRun)
	default:
		return errors.Join(err, w.undo(ctx, workload)) // what it owns goes with it
	}
}

// Prepare makes what the manifests of a job need and don't hold: the Secret, which
// nothing owns, and the ConfigMap of the runner, so that kubectl delete -f of the
// manifests does not take it from other jobs. A workload of this name that is there already is an error
// that is fs.ErrExist.
func (w *Cluster) Prepare(ctx context.Context, spec api.Spec, secrets map[string]string) error {
	p, err := w.split()
	if err != nil {
		return err
	}
	if err := w.locate(ctx); err != nil {
		return err
	}
	err = retry(ctx, func() error {
		_, err := w.client.getObject(ctx, w.collectionOf(p.workload), p.workload.GetName())
		return err
	})
	switch {
	case err == nil:
		return fmt.Errorf("job %s: %w", p.workload.GetName(), fs.ErrExist)
	case !apierrors.IsNotFound(err):
		return err
	}
	for _, o := range p.shared {
		if _, err := w.createRunner(ctx, o); err != nil {
			return err
		}
	}
	if len(secrets) == 0 {
		return nil
	}
	return w.putSecrets(ctx, secretOf(spec, p.workload, secrets), secrets, false)
}

// DryRun asks the API server to check every object, keeping none, and gives back
// what it would make of them, in their order. Quotas, which it does not look at before
// there are pods, are checked as for a job that starts.
func (w *Cluster) DryRun(ctx context.Context) ([]*unstructured.Unstructured, error) {
	p, err := w.split()
	if err != nil {
		return nil, err
	}
	if err := w.locate(ctx); err != nil {
		return nil, err
	}
	if err := w.checkQuotas(ctx, p.workload); err != nil {
		return nil, err
	}
	w.checkKueue(ctx, p.workload)
	all := make([]*unstructured.Unstructured, len(w.objects))
	for i, o := range w.objects {
		made, err := w.dryRun(ctx, o)
		if err != nil {
			return nil, err
		}
		made.SetManagedFields(nil) // kubectl doesn't print them either
		all[i] = made
	}
	return all, nil
}

func (w *Cluster) dryRun(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if !isWorkload(o) && !isShared(o) {
		made, _, err := w.ensure(ctx, o, modeDryRun)
		return made, err
	}
	made, err := w.client.createObject(ctx, w.collectionOf(o), o, modeDryRun)
	switch {
	case apierrors.IsAlreadyExists(err) && isShared(o):
		return o, nil
	case err != nil:
		return nil, err
	}
	return made, status.CheckQueue(made)
}

// createWorkload creates the Job or LeaderWorkerSet. When an answer was lost, the one that
// is there may be what was just asked for. One of another submit that runs the same call
// is returned beside the error.
func (w *Cluster) createWorkload(ctx context.Context, workload *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	var made *unstructured.Unstructured
	tries := 0
	err := retry(ctx, func() (err error) {
		tries++
		made, err = w.client.createObject(ctx, w.collectionOf(workload), workload, modeCreate)
		return err
	})
	switch {
	case err == nil:
		return made, nil
	case apierrors.IsAlreadyExists(err):
		return w.taken(ctx, workload, tries > 1, err)
	case tries > 1 || tries == 1 && !refused(err): // an answer was lost, or could not be read
		return nil, errors.Join(err, w.withdraw(ctx, workload))
	}
	return nil, err
}

// taken looks at the workload that has the name already: it may be ours.
func (w *Cluster) taken(ctx context.Context, workload *unstructured.Unstructured, retried bool, refusal error) (*unstructured.Unstructured, error) {
	refusal = fmt.Errorf("job %s: %w", workload.GetName(), errors.Join(fs.ErrExist, refusal))
	var found *unstructured.Unstructured
	err := retry(ctx, func() (err error) {
		found, err = w.client.getObject(ctx, w.collectionOf(workload), workload.GetName())
		return err
	})
	switch {
	case err != nil && retried && !apierrors.IsNotFound(err):
		return nil, mayRun(err)
	case err != nil || !sameCall(found, workload):
		return nil, refusal
	case retried:
		return found, nil
	}
	return found, errors.Join(refusal, api.ErrMayRun)
}

// sameCall reports whether two workloads run the same call of the same job.
func sameCall(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(workerArgs(a), workerArgs(b))
}

func workerArgs(workload *unstructured.Unstructured) any {
	templates := status.KindOf(workload).PodTemplates
	for _, c := range containersOf(workload, templates[len(templates)-1]) {
		if c["name"] == api.ContainerName {
			return c["args"]
		}
	}
	return nil
}

// undoTime bounds what a failed start costs on top.
const undoTime = 10 * time.Second

// withdraw removes a workload whose creation was not answered: nobody knows whether
// there is one.
func (w *Cluster) withdraw(ctx context.Context, workload *unstructured.Unstructured) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	var found *unstructured.Unstructured
	err := retry(bounded, func() (err error) {
		found, err = w.client.getObject(bounded, w.collectionOf(workload), workload.GetName())
		return err
	})
	switch {
	case err == nil && sameCall(found, workload):
		return w.undo(ctx, found)
	case err == nil || apierrors.IsNotFound(err):
		return nil
	}
	return mayRun(err)
}

// undo removes a workload that was made, and what it owns.
func (w *Cluster) undo(ctx context.Context, workload *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	err := retry(ctx, func() error {
		return w.client.removeObject(ctx, w.collectionOf(workload), workload.GetName(), workload.GetUID(), metav1.DeletePropagationBackground)
	})
	if err == nil || isGone(err) {
		return nil
	}
	return mayRun(err)
}

func mayRun(err error) error {
	return fmt.Errorf("the job may have been created: %w", errors.Join(api.ErrMayRun, err))
}
