package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// WarmHost is a warm host that has not ended.
type WarmHost struct {
	api.JobSummary
	// Key, Owner, Place, Secrets and Idle are fields of api.Warm, as the host's manifest has them.
	Key, Owner, Place, Secrets, Idle string
	// Pod and PodUID are of the pod that takes calls, "" if none does yet.
	Pod, PodUID string
}

// WarmHosts lists the warm hosts of the namespace with a key, or all with "", the newest first.
func (c *Cluster) WarmHosts(ctx context.Context, placeKey string) ([]WarmHost, error) {
	selector := api.LabelWarm
	if placeKey != "" {
		selector += "=" + placeKey
	}
	known := newCache()
	kinds := slices.DeleteFunc(c.listed(api.ListStates, joblist.Selector+","+selector), func(s selection) bool {
		return s.kind.workload != nil && s.kind.workload != diagnose.Job
	})
	if err := c.client.readInto(ctx, known, kinds); err != nil {
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
		Secrets: meta.Annotations[api.AnnotationWarmSecrets], Idle: meta.Annotations[api.AnnotationWarmIdle]}
	if i := slices.IndexFunc(pods, takesCalls); i >= 0 {
		host.Pod, host.PodUID = pods[i].Name, string(pods[i].UID)
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

func takesCalls(p corev1.Pod) bool {
	return p.DeletionTimestamp == nil && diagnose.WorkerOf(p).State.Running != nil
}

// WarmKey reads the key of a warm host from its Secret, in hex.
func (c *Cluster) WarmKey(ctx context.Context, host api.Handle) (string, error) {
	name := api.Spec{ID: host.JobID}.SecretName()
	var secret corev1.Secret
	err := retry(ctx, func() error {
		return c.client.core.Get().Namespace(cmp.Or(c.client.namespace, host.Namespace)).Resource("secrets").Name(name).Do(ctx).Into(&secret)
	})
	if err != nil {
		return "", c.client.explain("get", kind{resource: "secrets"}, name, err)
	}
	key := string(secret.Data[api.EnvWarmKey])
	if key == "" {
		return "", fmt.Errorf("secret %s has no %s", name, api.EnvWarmKey)
	}
	return key, nil
}
