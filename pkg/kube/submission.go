package kube

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// Submission is a job that is being submitted to a cluster.
type Submission struct {
	*Cluster
	// objects are the objects that Start applies: exactly those that a dry-run shows, except
	// that hosts wait for their key.
	objects []*unstructured.Unstructured
	// ready says that the objects that the job shares with others exist.
	ready bool
	// keyComes says that the job's Secret can be created, so that its hosts can wait for their key.
	keyComes bool
	// mayGo are shared objects that a cleanup may remove before the workload exists.
	mayGo []*unstructured.Unstructured
}

// Submission returns a Submission of the job that objects describe. It contacts nothing.
func (c *Cluster) Submission(objects []*unstructured.Unstructured) *Submission {
	return &Submission{Cluster: c, objects: objects}
}

// parts are the objects to apply, by what happens to them.
type parts struct {
	// workload runs the pods: a Job or a LeaderWorkerSet.
	workload *unstructured.Unstructured
	// shared objects are used by other jobs too, and stay.
	shared []*unstructured.Unstructured
	// owned objects are removed with the workload.
	owned []*unstructured.Unstructured
}

func (s *Submission) split() (parts, error) {
	var p parts
	for _, o := range s.objects {
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
		return p, errors.New("the manifests have neither a Job nor a LeaderWorkerSet")
	}
	return p, nil
}

func isWorkload(o *unstructured.Unstructured) bool {
	return diagnose.KindOf(o) != nil && o.GetLabels()[api.LabelJobID] != ""
}

func isShared(o *unstructured.Unstructured) bool {
	return o.GetKind() == "ConfigMap" && strings.HasPrefix(o.GetName(), api.RunnerPrefix)
}

// Ready creates the objects that jobs share, such as the runner's ConfigMap. It needs no object of
// this job, so it can run during the upload. It finds out early if the cluster can't be reached or
// has no such namespace, or if a quota never lets the job run.
func (s *Submission) Ready(ctx context.Context) error {
	p, err := s.split()
	if err != nil {
		return err
	}
	if err := s.locate(ctx, s.objects); err != nil {
		return err
	}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.checkQuotas(ctx, p.workload) })
	g.Go(func() error { s.checkKueue(ctx, p.workload); return nil })
	g.Go(func() error { return s.volumes().CheckDrivers(ctx, p.workload) })
	g.Go(func() error { s.keyComes = s.mayPutKey(ctx, p.workload); return nil })
	for _, o := range p.shared {
		g.Go(func() error {
			mayGo, err := s.createRunner(ctx, o)
			if mayGo {
				mu.Lock()
				defer mu.Unlock()
				s.mayGo = append(s.mayGo, o)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	s.ready = true
	return nil
}

// Start creates the Job or LeaderWorkerSet, then what it owns, including the Secret. It calls Ready
// first if that was not done. The workload comes before the Secret because its name decides which
// of several submits creates the Secret, and because the Secret is then removed with its owner,
// whatever happens to this process. Hosts wait for the Secret.
//
// If a workload of this name exists already, the error is fs.ErrExist, and also api.ErrMayRun if
// that workload runs the same call. In that case Start still creates what the workload owns, because
// the other submit may have been cut off. If Start fails, it removes what it created.
func (s *Submission) Start(ctx context.Context, spec api.Spec, secrets map[string]string) error {
	p, err := s.split()
	if err != nil {
		return err
	}
	if !s.ready {
		if err := s.Ready(ctx); err != nil {
			return err
		}
	}
	asked := p.workload
	if _, keyed := secrets[api.Contract.Names.GroupKey]; keyed && s.keyComes {
		asked = awaitingKey(asked)
	}
	workload, taken := s.createWorkload(ctx, asked)
	if workload == nil {
		return taken
	}
	if err := diagnose.CheckQueue(workload); err != nil && taken == nil {
		return errors.Join(err, s.undo(ctx, workload))
	}
	owner := metav1.OwnerReference{APIVersion: workload.GetAPIVersion(), Kind: workload.GetKind(), Name: workload.GetName(), UID: workload.GetUID()}
	g, gctx := errgroup.WithContext(ctx)
	var rights []*unstructured.Unstructured
	for _, o := range p.owned {
		if isRelease(o, workload) {
			rights = append(rights, o)
			continue
		}
		g.Go(func() error { return s.own(gctx, o, owner) })
	}
	g.Go(func() error { return s.allowRelease(gctx, rights, owner) })
	for _, o := range s.mayGo {
		g.Go(func() error { s.keepRunner(gctx, o); return nil })
	}
	if len(secrets) > 0 {
		secret := secretOf(spec, workload, secrets)
		secret.SetOwnerReferences([]metav1.OwnerReference{owner})
		g.Go(func() error { return s.putSecrets(gctx, secret, secrets, taken != nil) })
	}
	switch err := g.Wait(); {
	case err == nil:
		return taken
	case taken != nil:
		return errors.Join(err, api.ErrMayRun)
	default:
		return errors.Join(err, s.undo(ctx, workload)) // with what it owns
	}
}

// Prepare creates what the manifests of a job need but don't contain: the Secret, which has no
// owner, and the ConfigMap of the runner, which other jobs would lose if kubectl delete -f removed
// it. If a workload of this name exists already, the error is fs.ErrExist.
func (s *Submission) Prepare(ctx context.Context, spec api.Spec, secrets map[string]string) error {
	p, err := s.split()
	if err != nil {
		return err
	}
	if err := s.locate(ctx, s.objects); err != nil {
		return err
	}
	switch _, err := s.get(ctx, p.workload); {
	case err == nil:
		return fmt.Errorf("job %s: %w", p.workload.GetName(), fs.ErrExist)
	case !apierrors.IsNotFound(err):
		return err
	}
	for _, o := range p.shared {
		if _, err := s.createRunner(ctx, o); err != nil {
			return err
		}
	}
	if len(secrets) == 0 {
		return nil
	}
	return s.putSecrets(ctx, secretOf(spec, p.workload, secrets), secrets, false)
}

// DryRun asks the API server to check every object without keeping any, and returns the objects as
// the server would create them, in order. Quotas are checked as for a job that starts, because the
// server only checks them for pods.
func (s *Submission) DryRun(ctx context.Context) ([]*unstructured.Unstructured, error) {
	p, err := s.split()
	if err != nil {
		return nil, err
	}
	if err := s.locate(ctx, s.objects); err != nil {
		return nil, err
	}
	if err := errors.Join(s.checkQuotas(ctx, p.workload), s.volumes().CheckDrivers(ctx, p.workload)); err != nil {
		return nil, err
	}
	s.checkKueue(ctx, p.workload)
	all := make([]*unstructured.Unstructured, len(s.objects))
	for i, o := range s.objects {
		made, err := s.dryRun(ctx, o)
		if err != nil {
			return nil, err
		}
		made.SetManagedFields(nil) // kubectl doesn't print them either
		all[i] = made
	}
	return all, nil
}
