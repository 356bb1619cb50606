package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// workloadFrom reads a workload whose pods have one template.
func workloadFrom(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	const pod = `{spec: {priorityClassName: low, containers: [
		{name: kinetic-worker, resources: {requests: {cpu: 100m, memory: 2Gi}, limits: {google.com/tpu: "4", memory: 2Gi}}},
		{name: sidecar, resources: {requests: {cpu: 50m}}}]}}`
	var o map[string]any
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "POD", pod)), &o); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: o}
}

func quotaOf(hard, used string, scopes ...corev1.ScopedResourceSelectorRequirement) corev1.ResourceQuota {
	list := func(text string) corev1.ResourceList {
		all := corev1.ResourceList{}
		for pair := range strings.SplitSeq(text, ",") {
			name, amount, _ := strings.Cut(pair, "=")
			all[corev1.ResourceName(name)] = resource.MustParse(amount)
		}
		return all
	}
	q := corev1.ResourceQuota{TypeMeta: metav1.TypeMeta{Kind: "ResourceQuota", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "team", Namespace: "ml"},
		Status: corev1.ResourceQuotaStatus{Hard: list(hard)}}
	if used != "" {
		q.Status.Used = list(used)
	}
	if len(scopes) > 0 {
		q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: scopes}
	}
	return q
}

const (
	textOfGroup    = `{kind: Job, spec: {completions: 4, parallelism: 4, completionMode: Indexed, backoffLimit: 0, template: POD}}`
	textOfMap      = `{kind: Job, spec: {completions: 40, parallelism: 10, completionMode: Indexed, backoffLimitPerIndex: 1, template: POD}}`
	textOfJob      = `{kind: Job, spec: {template: POD}}`
	textOfPathways = `{kind: LeaderWorkerSet, spec: {leaderWorkerTemplate: {size: 3, workerTemplate: {spec: {containers: [{name: pathways-worker, resources: {limits: {google.com/tpu: "4"}}}]}},
		leaderTemplate: {spec: {containers: [{name: kinetic-worker, resources: {requests: {cpu: "1"}}}], initContainers: [{name: once, resources: {requests: {cpu: "5"}}},
			{name: pathways-rm, restartPolicy: Always, resources: {requests: {cpu: "2"}}}, {name: pathways-proxy, restartPolicy: Always, resources: {requests: {cpu: "4"}, limits: {memory: 100Gi}}}]}}}}}`
	textOfSet = `{kind: LeaderWorkerSet, spec: {replicas: 1, leaderWorkerTemplate: {size: 4, leaderTemplate: POD, workerTemplate: POD}}}`
)

func TestWhatAJobTakesOfQuotas(t *testing.T) {
	scope := func(name corev1.ResourceQuotaScope, o corev1.ScopeSelectorOperator, values ...string) corev1.ScopedResourceSelectorRequirement {
		return corev1.ScopedResourceSelectorRequirement{ScopeName: name, Operator: o, Values: values}
	}
	tests := map[string]struct {
		workload string
		quota    corev1.ResourceQuota
		want     string // "" where it fits
	}{
		"it fits to the last bit":            {textOfSet, quotaOf("requests.cpu=600m,pods=4", ""), ""},
		"hosts of a set":                     {textOfSet, quotaOf("requests.cpu=599m", ""), "too small for this job: its 4 hosts request 600m of requests.cpu, but all jobs together may have 599m"},
		"hosts of a Job":                     {textOfGroup, quotaOf("memory=7Gi", ""), "too small for this job: its 4 hosts request 8Gi of memory, but all jobs together may have 7Gi"},
		"sidecars that stay":                 {textOfPathways, quotaOf("requests.cpu=6999m,limits.memory=100Gi", ""), "its 3 hosts request 7 of requests.cpu"},
		"what a sidecar may use":             {textOfPathways, quotaOf("requests.memory=99Gi,requests.cpu=7,google.com/tpu=8", ""), "its 3 hosts request 100Gi of requests.memory"},
		"one host":                           {textOfJob, quotaOf("cpu=100m", ""), "too small for this job: the job requests 150m of cpu, but all jobs together may have 100m"},
		"a map continues with one pod":       {textOfMap, quotaOf("requests.cpu=150m", ""), ""},
		"and not with none":                  {textOfMap, quotaOf("pods=0", ""), "the job requests 1 of pods, but all jobs together may have 0"},
		"chips are asked for by their limit": {textOfSet, quotaOf("requests.google.com/tpu=8", ""), "its 4 hosts request 16 of requests.google.com/tpu, but all jobs together may have 8"},
		"limits":                             {textOfSet, quotaOf("limits.memory=4Gi", ""), "its 4 hosts request 8Gi of limits.memory"},
		"pods":                               {textOfSet, quotaOf("count/pods=3", ""), "its 4 hosts request 4 of count/pods"},
		"there is room when others end":      {textOfSet, quotaOf("requests.cpu=1", "requests.cpu=500m"), "has no room for this job yet: its 4 hosts request 600m of requests.cpu, but 500m of 1 are used"},
		"more is used than there may be":     {textOfJob, quotaOf("requests.cpu=1", "requests.cpu=2"), "has no room for this job yet"},
		"what it does not ask for":           {textOfSet, quotaOf("requests.nvidia.com/gpu=0,services=0,limits.cpu=0,requests.storage=0", ""), ""},
		"for some pods only":                 {textOfSet, quotaOf("pods=0", "", scope(corev1.ResourceQuotaScopeNotBestEffort, corev1.ScopeSelectorOpExists)), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := checkQuotas([]corev1.ResourceQuota{tt.quota}, workloadFrom(t, tt.workload))
			if err != nil {
				got = err.Error()
			}
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
