package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// lack is a container without requests or limits that a quota needs of every container. Then the
// API server refuses its pods, unless it fills them in from a LimitRange.
type lack struct {
	quota, namespace, container string
	resources                   []string
}

// firstLack returns the first container without something that a quota needs, nil if there is none.
func firstLack(quotas []corev1.ResourceQuota, pods []diagnose.PodSet) *lack {
	for _, q := range quotas {
		if hasScopes(q) {
			continue
		}
		for _, p := range pods {
			if p.Count == 0 || p.Spec.Resources != nil { // what the whole pod has is enough
				continue
			}
			for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
				if names := lackedBy(c, q.Status.Hard); len(names) > 0 {
					return &lack{q.Name, q.Namespace, c.Name, names}
				}
			}
		}
	}
	return nil
}

// lackedBy returns which of the resources of a quota a container has to name, and does not. A
// limit is also a request.
func lackedBy(c corev1.Container, hard corev1.ResourceList) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		text := string(name)
		limited, isLimit := strings.CutPrefix(text, "limits.")
		asked := corev1.ResourceName(strings.TrimPrefix(limited, "requests."))
		if asked != corev1.ResourceCPU && asked != corev1.ResourceMemory {
			continue
		}
		if !has(c.Resources.Limits, asked) && (isLimit || !has(c.Resources.Requests, asked)) {
			names = append(names, text)
		}
	}
	return names
}

// String says what is wrong, and what to do.
func (l *lack) String() string {
	return fmt.Sprintf("quota %s of namespace %s wants every container to have %s, and %s does not: unless a LimitRange gives a default, the cluster refuses its pods; %s",
		l.quota, l.namespace, strings.Join(l.resources, " and "), l.container, l.advice())
}

// advice names the flags that set what lacks, or an overlay, which can set everything.
func (l *lack) advice() string {
	var flags []string
	for _, name := range l.resources {
		flag := "--memory"
		switch {
		case l.container != api.ContainerName || name == string(corev1.ResourceLimitsCPU):
			return "set this in an overlay (docs/overlays.md)"
		case strings.HasSuffix(name, string(corev1.ResourceCPU)):
			flag = "--cpu"
		}
		if !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	return "use " + strings.Join(flags, " and ")
}
