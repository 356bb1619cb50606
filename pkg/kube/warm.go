package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// WarmHost is a warm host that has not ended.
type WarmHost struct {
	api.JobSummary
	// Key, Owner, Place and Secrets are fields of api.Warm, as the host's manifest has them.
	Key, Owner, Place, Secrets string
	// Inbox means that its pods can also be reached through the store.
	Inbox bool
	// Handle is the host's own handle.
	Handle api.Handle
	// Running are the pods by their number, zero for one that is not running. The first takes the calls for all.
	Running []Pod
}

// TakesCalls reports whether the pod that takes calls is running.
func (h WarmHost) TakesCalls() bool { return h.PodOf(0).Name != "" }

// PodOf returns a pod of a host by its number, zero if it is not running.
func (h WarmHost) PodOf(number int) Pod {
	if number < 0 || number >= len(h.Running) {
		return Pod{}
	}
	return h.Running[number]
}

// WarmHosts lists the warm hosts of the namespace, the newest first.
func (c *Cluster) WarmHosts(ctx context.Context) ([]WarmHost, error) {
	known, err := c.readWarm(ctx)
	if err != nil {
		return nil, err
	}
	var hosts []WarmHost
	for _, k := range known.all() {
		if host, ok := warmHost(known.snapshot(k)); ok {
			hosts = append(hosts, host)
		}
	}
	slices.SortFunc(hosts, func(a, b WarmHost) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID)) })
	return hosts, nil
}

func (c *Cluster) readWarm(ctx context.Context) (*cache, error) {
	known := newCache()
	return known, c.client.readInto(ctx, known, c.listed(api.ListStates, joblist.Selector+","+api.LabelWarm))
}

// unready is how long the leader of a warm host can be unready while it starts, or while its node is busy.
const unready = 5 * time.Minute

// unreadyFor returns for how long the newest leader has not been ready.
func (c *Cluster) unreadyFor(pods []corev1.Pod) time.Duration {
	leaders := diagnose.Leaders(pods)
	if len(leaders) == 0 {
		return 0
	}
	for _, condition := range leaders[len(leaders)-1].Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionFalse {
			return c.client.now().Sub(condition.LastTransitionTime.Time)
		}
	}
	return 0
}

// DeleteEndedWarmSets deletes the LeaderWorkerSets of an owner's warm hosts that have ended. This includes hosts whose leader lacks
// the permission to end its set, so that they hold their nodes. Kubernetes itself deletes ended Jobs.
func (c *Cluster) DeleteEndedWarmSets(ctx context.Context, owner string) error {
	known, err := c.readWarm(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, k := range known.all() {
		s := known.snapshot(k)
		if !s.Exists() || s.Kind() != diagnose.LeaderWorkerSet || s.Meta().Annotations[api.AnnotationWarmOwner] != owner {
			continue
		}
		pods := s.list()
		now := s.State(pods)
		if (now.State.Ended() || now.UnreleasedHosts != "" && c.unreadyFor(pods) > unready) && s.Meta().DeletionTimestamp == nil {
			h := api.Handle{JobID: s.Meta().Labels[api.LabelJobID], Backend: s.Kind().Backend, Namespace: s.Meta().Namespace, K8sName: s.Meta().Name}
			errs = append(errs, c.Delete(ctx, h, api.DeleteOptions{}))
		}
	}
	return errors.Join(errs...)
}

// warmHost describes a host, unless it has ended or is being deleted.
func warmHost(s snapshot) (WarmHost, bool) {
	if !s.Exists() {
		return WarmHost{}, false
	}
	pods, meta := s.list(), s.Meta()
	now := s.State(pods)
	if now.State.Ended() || meta.DeletionTimestamp != nil {
		return WarmHost{}, false
	}
	host := WarmHost{JobSummary: joblist.Summary(s.Workload, pods, now), Key: meta.Labels[api.LabelWarm],
		Owner: meta.Annotations[api.AnnotationWarmOwner], Place: meta.Annotations[api.AnnotationWarmPlace],
		Secrets: meta.Annotations[api.AnnotationWarmSecrets], Inbox: meta.Annotations[api.AnnotationWarmInbox] != ""}
	host.Handle = api.Handle{JobID: host.ID, Backend: s.Kind().Backend, Namespace: host.Namespace, K8sName: meta.Name, Store: host.Store, Hosts: host.Hosts}
	host.Running = make([]Pod, host.Hosts)
	for _, p := range diagnose.NewestOfHosts(pods) {
		if n := diagnose.HostOf(p); n < len(host.Running) && p.DeletionTimestamp == nil {
			host.Running[n] = runningIn(p)
		}
	}
	return host, true
}

// WarmHost returns a warm host by its handle, zero if it has ended.
func (c *Cluster) WarmHost(ctx context.Context, host api.Handle) (WarmHost, error) {
	now, err := c.client.snapshot(ctx, host)
	if err != nil {
		return WarmHost{}, err
	}
	found, _ := warmHost(now)
	return found, nil
}

// ReachedHost returns a warm host by its handle, with the one pod that was reached: its pods are not read. It is zero if the host has ended.
func (c *Cluster) ReachedHost(ctx context.Context, host api.Handle, pod Pod) (WarmHost, error) {
	known := newCache()
	workloads := slices.DeleteFunc(c.client.ofJob(host), func(s selection) bool { return s.kind.workload == nil })
	if err := c.client.readInto(ctx, known, workloads); err != nil {
		return WarmHost{}, err
	}
	found, exists := warmHost(known.snapshot(c.client.keyOf(host)))
	if exists {
		found.Handle, found.Hosts, found.Running = host, host.Hosts, []Pod{pod}
	}
	return found, nil
}

// WarmKey reads the key of a warm host from its Secret, in hex.
func (c *Cluster) WarmKey(ctx context.Context, host api.Handle) (string, error) {
	name := api.Spec{ID: host.JobID}.SecretName()
	var secret corev1.Secret
	err := c.read(ctx, &secret, "/api/v1/namespaces", cmp.Or(c.client.namespace, host.Namespace), "secrets", name)
	if err != nil {
		return "", c.client.explain("get", kind{resource: "secrets"}, name, err)
	}
	key := string(secret.Data[api.EnvWarmKey])
	if key == "" {
		return "", fmt.Errorf("secret %s has no %s", name, api.EnvWarmKey)
	}
	return key, nil
}

// MayForwardPorts reports whether the user has permission to forward ports of pods, or true if the server does not answer.
func (c *Cluster) MayForwardPorts(ctx context.Context) bool {
	review := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: c.client.namespace, Verb: "create", Resource: podResource, Subresource: "portforward"},
	}}
	err := c.client.plain.Send(ctx, http.MethodPost, review, &review, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
	return err != nil || review.Status.Allowed
}
