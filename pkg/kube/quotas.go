package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	requests "k8s.io/component-helpers/resource"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// checkQuotas compares a job with the quotas of its namespace. It returns an error if they never let
// the job run, and a warning if other jobs have to end first.
func checkQuotas(quotas []corev1.ResourceQuota, workload *unstructured.Unstructured) (warning string, err error) {
	if len(quotas) == 0 {
		return "", nil
	}
	pods, err := diagnose.PodSets(workload)
	if err != nil {
		return "", fmt.Errorf("reading how many pods %s has: %w", workload.GetName(), err)
	}
	all := usages(quotas, pods)
	if i := slices.IndexFunc(all, usage.isUnrecoverable); i >= 0 {
		return "", fmt.Errorf("%s; request less, or ask an administrator for a larger quota (kubectl describe quota %s -n %s)", all[i], all[i].quota, all[i].namespace)
	}
	if i := slices.IndexFunc(all, usage.waits); i >= 0 {
		return fmt.Sprintf("%s; the job waits until other jobs end", all[i]), nil
	}
	return "", nil
}

// usage is what all pods of a job together request of a resource that a quota limits.
type usage struct {
	quota, namespace string
	resource         corev1.ResourceName
	hosts            int64
	need, hard, used resource.Quantity
}

// usages returns the usage of each resource that the quotas limit, in order of names. Quotas with scopes are left out:
// which pods they count depends on what only the server knows, such as the default priority.
func usages(quotas []corev1.ResourceQuota, pods []diagnose.PodSet) []usage {
	var all []usage
	for _, q := range quotas {
		if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			continue
		}
		hard := q.Status.Hard // what is enforced
		for _, name := range slices.Sorted(maps.Keys(hard)) {
			u := usage{quota: q.Name, namespace: q.Namespace, resource: name, hard: hard[name], used: q.Status.Used[name]}
			for _, p := range pods {
				amount := podUsage(p.Spec, name)
				amount.Mul(p.Count)
				u.need.Add(amount)
				u.hosts += p.Count
			}
			all = append(all, u)
		}
	}
	return all
}

// isUnrecoverable reports whether waiting does not help.
func (u usage) isUnrecoverable() bool { return !u.need.IsZero() && u.need.Cmp(u.hard) > 0 }

// waits reports whether other jobs have to end first.
func (u usage) waits() bool {
	free := u.hard.DeepCopy()
	free.Sub(u.used)
	return !u.need.IsZero() && u.need.Cmp(free) > 0
}

func (u usage) String() string {
	who := "the job requests"
	if u.hosts > 1 {
		who = fmt.Sprintf("its %d hosts request", u.hosts)
	}
	text := fmt.Sprintf("%s of %s", &u.need, u.resource)
	if u.isUnrecoverable() {
		return fmt.Sprintf("quota %s of namespace %s is too small for this job: %s %s, but all jobs together may have %s", u.quota, u.namespace, who, text, &u.hard)
	}
	return fmt.Sprintf("quota %s of namespace %s has no room for this job yet: %s %s, but %s of %s are used", u.quota, u.namespace, who, text, &u.used, &u.hard)
}

// podUsage returns how much a pod requests of a resource, which has the name that quotas use;
// zero if it is not a resource of pods.
func podUsage(p corev1.PodSpec, name corev1.ResourceName) resource.Quantity {
	text := string(name)
	if text == "pods" || text == "count/pods" {
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	if limited, isLimit := strings.CutPrefix(text, "limits."); isLimit {
		return requests.PodLimits(&corev1.Pod{Spec: p}, requests.PodResourcesOptions{})[corev1.ResourceName(limited)]
	}
	asked := corev1.ResourceName(strings.TrimPrefix(text, "requests."))
	pod := &corev1.Pod{Spec: *p.DeepCopy()}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			r := &list[i].Resources
			if limit, limited := r.Limits[asked]; limited && !has(r.Requests, asked) { // as the API server does
				if r.Requests == nil {
					r.Requests = corev1.ResourceList{}
				}
				r.Requests[asked] = limit
			}
		}
	}
	return requests.PodRequests(pod, requests.PodResourcesOptions{})[asked]
}

func has(list corev1.ResourceList, name corev1.ResourceName) bool {
	_, found := list[name]
	return found
}
