package render

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	runtimeDir = componentsDir + "/pathways-runtime"
	policyDir  = componentsDir + "/pathways-network"
	policyFile = policyDir + "/networkpolicy.yaml"

	leaderPod = "/spec/leaderWorkerTemplate/leaderTemplate"
	workerPod = "/spec/leaderWorkerTemplate/workerTemplate"

	// Where the component has the containers of the runtime.
	managerContainer = leaderPod + "/spec/initContainers/0"
	proxyContainer   = leaderPod + "/spec/initContainers/1"
	workerContainer  = workerPod + "/spec/containers/0"

	// fuseAnnotations is the beginning of the annotations with which GKE mounts buckets.
	fuseAnnotations = "gke-gcsfuse/"
)

func (g *group) runtime(s api.Spec, set *patch) {
	r := s.Pathways
	g.components = append(g.components, runtimeDir)
	set.test(managerContainer+"/name", api.Contract.Pathways.Manager)
	set.test(proxyContainer+"/name", api.Contract.Pathways.Proxy)
	set.test(workerContainer+"/name", api.Contract.Pathways.Worker)
	set.replace(managerContainer+"/image", r.Server)
	set.replace(proxyContainer+"/image", r.Proxy)
	set.replace(workerContainer+"/image", r.Server)
	set.replace(managerContainer+"/args/3", "--instance_type="+r.Instance)
	if strings.HasPrefix(s.Store, store.BucketScheme) {
		scratch := "--gcs_scratch_location=" + s.Store + "/" + api.PathwaysScratch
		for _, container := range []string{managerContainer, proxyContainer, workerContainer} {
			set.add(container+"/args/-", scratch)
		}
		set.add(managerContainer+"/args/-", "--enable_gcs_olm=false") // our own rule deletes what is old
	}
	for _, flag := range r.XLAFlags {
		set.add(proxyContainer+"/args/-", literal(flag))
	}
	chips := fmt.Sprint(s.Accelerator.ChipsPerHost)
	for _, list := range []string{"/resources/limits", "/resources/requests"} {
		set.replace(pointer(workerContainer+list, s.Accelerator.Resource), chips)
	}
	if s.Restricted {
		for _, container := range []string{managerContainer, proxyContainer, workerContainer} {
			set.add(container+"/securityContext/capabilities", corev1.Capabilities{Drop: []corev1.Capability{"ALL"}})
		}
	}
	if mountsBuckets(s) {
		for _, name := range []string{"volumes", "cpu-request", "cpu-limit", "memory-request", "memory-limit", "ephemeral-storage-limit"} {
			set.remove(pointer(workerPod+"/metadata/annotations", fuseAnnotations+name))
		}
	}
	if s.Machines() == 1 {
		set.add(leaderPod+"/spec/affinity", besideWorker(s))
	}
	roleKind := resid.Gvk{Group: "rbac.authorization.k8s.io", Kind: "Role"}
	g.patches = append(g.patches, kindPatch{roleKind, "role.json", readPods(s)})
	if !r.OpenNetwork {
		g.components = append(g.components, policyDir)
	}
}

// besideWorker puts the leader on the machine of the only TPU host.
func besideWorker(s api.Spec) corev1.Affinity {
	return corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname,
		LabelSelector: &metav1.LabelSelector{
			MatchLabels:      map[string]string{api.LabelJobID: s.ID},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: api.LabelWorkerIndex, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"0"}}},
		},
	}}}}
}

// readPods lets the leader see whether parts of the runtime were lost, and why: it may read the pods of its own set.
func readPods(s api.Spec) patch {
	leader := s.JobName() + "-0"
	names := []string{leader}
	for i := range s.Pathways.TPUHosts {
		names = append(names, fmt.Sprintf("%s-%d", leader, i+1))
	}
	var role patch
	role.add("/rules/-", map[string]any{
		"apiGroups": []string{""}, "resources": []string{"pods", "pods/log"}, "resourceNames": names, "verbs": []string{"get"},
	})
	return role
}

// putPolicy puts the NetworkPolicy into the namespace of the job, and lets its pods reach each other.
func (t tree) putPolicy(s api.Spec) error {
	if s.Pathways == nil || s.Pathways.OpenNetwork {
		return nil
	}
	labels := map[string]any{"matchLabels": map[string]any{api.LabelJobID: s.ID}}
	return t.fill(policyFile, s, func(policy *unstructured.Unstructured) error {
		return errors.Join(
			unstructured.SetNestedMap(policy.Object, labels, "spec", "podSelector"),
			unstructured.SetNestedSlice(policy.Object, []any{map[string]any{"from": []any{map[string]any{"podSelector": labels}}}}, "spec", "ingress"))
	})
}
