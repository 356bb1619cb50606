package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// checkQuotas tells early of a job that the quotas of its namespace never let run,
// which is an error, or not now. Whoever can't read quotas hears of them when a pod
// is refused.
func (w *Workload) checkQuotas(ctx context.Context, workload *unstructured.Unstructured) error {
	var quotas corev1.ResourceQuotaList
	err := w.client.list(ctx, kind{client: w.client.core, resource: "resourcequotas"}, metav1.ListOptions{}, &quotas)
	if err != nil || len(quotas.Items) == 0 {
		return nil //nolint:nilerr // the server itself refuses what doesn't fit
	}
	pods, err := together(workload)
	if err != nil {
		return fmt.Errorf("reading how many pods %s has: %w", workload.GetName(), err)
	}
	all := claims(quotas.Items, pods)
	if i := slices.IndexFunc(all, claim.isHopeless); i >= 0 {
		return fmt.Errorf("%s; ask for less, or an administrator for a larger quota, which kubectl describe quota %s -n %s shows", all[i], all[i].quota, all[i].namespace)
	}
	if i := slices.IndexFunc(all, claim.waits); i >= 0 {
		w.client.wire.say("%s; the job will wait until other jobs have ended", all[i])
	}
	return nil
}

// alike are pods of one template that a job needs at the same time.
type alike struct {
	count int64
	spec  corev1.PodSpec
}

// together are the pods without all of which a job does not run. Those of a map do
// without each other.
func together(workload *unstructured.Unstructured) ([]alike, error) {
	convert := runtime.DefaultUnstructuredConverter.FromUnstructured
	if workload.GetKind() != setKind {
		var job batchv1.Job
		err := convert(workload.Object, &job)
		count := int64(1)
		if isGroup(&job) {
			count = int64(*job.Spec.Completions)
		}
		return []alike{{count, job.Spec.Template.Spec}}, err
	}
	var set struct {
		Spec struct {
			LeaderWorkerTemplate struct {
				Size           int64                   `json:"size"`
				LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate"`
				WorkerTemplate corev1.PodTemplateSpec  `json:"workerTemplate"`
			} `json:"leaderWorkerTemplate"`
		} `json:"spec"`
	}
	err := convert(workload.Object, &set)
	group := set.Spec.LeaderWorkerTemplate
	leader := cmp.Or(group.LeaderTemplate, &group.WorkerTemplate)
	return []alike{{1, leader.Spec}, {max(group.Size, 1) - 1, group.WorkerTemplate.Spec}}, err
}

// claim is what all pods of a job together take of a resource that a quota limits.
type claim struct {
	quota, namespace string
	resource         corev1.ResourceName
	hosts            int64
	need, hard, used resource.Quantity
}

// claims are those of a job on the quotas, in the order of their names.
func claims(quotas []corev1.ResourceQuota, pods []alike) []claim {
	var all []claim
	for _, q := range quotas {
		counted := slices.DeleteFunc(slices.Clone(pods), func(p alike) bool { return !counts(q.Spec, p.spec) })
		hard := q.Status.Hard // what is enforced
		for _, name := range slices.Sorted(maps.Keys(hard)) {
			c := claim{quota: q.Name, namespace: q.Namespace, resource: name, hard: hard[name], used: q.Status.Used[name]}
			for _, p := range counted {
				amount := taken(p.spec, name)
				amount.Mul(p.count)
				c.need.Add(amount)
				c.hosts += p.count
			}
			all = append(all, c)
		}
	}
	return all
}

// isHopeless says of a claim that waiting doesn't help.
func (c claim) isHopeless() bool { return !c.need.IsZero() && c.need.Cmp(c.hard) > 0 }

// waits says of a claim that others have to end first.
func (c claim) waits() bool {
	free := c.hard.DeepCopy()
	free.Sub(c.used)
	return !c.need.IsZero() && c.need.Cmp(free) > 0
}

func (c claim) String() string {
	who := "the job asks"
	if c.hosts > 1 {
		who = fmt.Sprintf("its %d hosts ask", c.hosts)
	}
	text := fmt.Sprintf("for %s of %s", &c.need, c.resource)
	if c.isHopeless() {
		return fmt.Sprintf("quota %s of namespace %s is too small for this job: %s %s, and all jobs together may have %s", c.quota, c.namespace, who, text, &c.hard)
	}
	return fmt.Sprintf("quota %s of namespace %s has no room for this job yet: %s %s, and %s of %s are used", c.quota, c.namespace, who, text, &c.used, &c.hard)
}

// taken is what a pod takes of a resource as quotas name it; nothing of what is no
// resource of pods.
func taken(p corev1.PodSpec, name corev1.ResourceName) resource.Quantity {
	text := string(name)
	if text == "pods" || text == "count/pods" {
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	limited, isLimit := strings.CutPrefix(text, "limits.")
	asked := corev1.ResourceName(strings.TrimPrefix(text, "requests."))
	sum := resource.Quantity{}
	for _, c := range p.Containers {
		switch q, ok := c.Resources.Requests[asked]; {
		case isLimit:
			sum.Add(c.Resources.Limits[corev1.ResourceName(limited)])
		case ok:
			sum.Add(q)
		default: // as the API server does
			sum.Add(c.Resources.Limits[asked])
		}
	}
	return sum
}

// counts tells whether a quota surely counts a pod. What only the server knows, such
// as the priority that a pod has by default, is no.
func counts(q corev1.ResourceQuotaSpec, p corev1.PodSpec) bool {
	for _, scope := range q.Scopes {
		if !inScope(p, corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}) {
			return false
		}
	}
	if q.ScopeSelector == nil {
		return true
	}
	for _, r := range q.ScopeSelector.MatchExpressions {
		if !inScope(p, r) {
			return false
		}
	}
	return true
}

func inScope(p corev1.PodSpec, r corev1.ScopedResourceSelectorRequirement) bool {
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return p.ActiveDeadlineSeconds != nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return p.ActiveDeadlineSeconds == nil
	case corev1.ResourceQuotaScopeNotBestEffort:
		return asksForCompute(p)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return looksAround(p)
	case corev1.ResourceQuotaScopePriorityClass:
		switch named := slices.Contains(r.Values, p.PriorityClassName); r.Operator {
		case corev1.ScopeSelectorOpIn:
			return named
		case corev1.ScopeSelectorOpNotIn:
			return p.PriorityClassName != "" && !named
		case corev1.ScopeSelectorOpExists:
			return p.PriorityClassName != ""
		}
	}
	return false
}

// looksAround tells pods that keep away from those of other namespaces, as the hosts of
// a slice do.
func looksAround(p corev1.PodSpec) bool {
	return p.Affinity != nil && p.Affinity.PodAntiAffinity != nil &&
		slices.ContainsFunc(p.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool {
			return t.NamespaceSelector != nil
		})
}

// asksForCompute tells pods that are no best effort.
func asksForCompute(p corev1.PodSpec) bool {
	return slices.ContainsFunc(p.Containers, func(c corev1.Container) bool {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			asked, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			if !asked.IsZero() || !limit.IsZero() {
				return true
			}
		}
		return false
	})
}
