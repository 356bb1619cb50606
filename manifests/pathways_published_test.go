package manifests_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// What the published manifests say of each field, and what ours has there. Where they agree, ours agrees; where it doesn't, or
// where they differ, the row says why. They are those of pathways-job 0.1.4, xpk, cluster-toolkit, pathways-utils, axlearn (a
// JobSet, and a LeaderWorkerSet for serving), pathways-cli, tunix and Google's tutorial with a LeaderWorkerSet.
func TestPathwaysAsPublished(t *testing.T) {
	w := build(t, "testdata/tpu+pathways+leaderworkerset+pathways-runtime+pathways-network")
	leader, worker := w.pods[0], w.pods[1]
	call, manager, proxy, tpu := leader.Containers[0], leader.InitContainers[0], leader.InitContainers[1], worker.Containers[0]
	const disagree = "" // the manifests have no common value
	for _, row := range []struct {
		field  string
		common string // what all of them have, with the ports of ours; "" if they differ
		ours   string
		why    string // ours is not what is common, or what there is in place of a common value
	}{
		{"pods", "a head, and one worker for each TPU host", fmt.Sprintf("%s, and %s for each TPU host", map[bool]string{true: "a head"}[len(w.pods) == 2], map[bool]string{true: "one worker"}[len(worker.Containers) == 1]), ""},
		{"chips of the head", "none", chips(call, manager, proxy), ""},
		{"chips of a worker", "all of its host", map[bool]string{true: "all of its host"}[chips(tpu) != "none"], ""}, // how many there are is the renderer's test
		{"resource manager and proxy", "in the pod of the head", map[bool]string{true: "in the pod of the head"}[manager.Name == api.Contract.Pathways.Manager && proxy.Name == api.Contract.Pathways.Proxy], ""},
		{"program of the resource manager", "--node_type=resource_manager", flag(manager, "--node_type"), ""},
		{"port of the resource manager", "--server_port=29001", flag(manager, "--server_port"), ""},
		{"slices", "--instance_count", name(flag(manager, "--instance_count")), ""},
		{"shape of a slice", "--instance_type", name(flag(manager, "--instance_type")), ""},
		{"port of the proxy", "--server_port=29000", flag(proxy, "--server_port"), ""},
		{"resource manager, for the proxy", "--resource_manager_address", name(flag(proxy, "--resource_manager_address")), ""},
		{"resource manager, for a worker", "--resource_manager_address", name(flag(tpu, "--resource_manager_address")), ""},
		{"JAX_PLATFORMS", "proxy", variable(call, "JAX_PLATFORMS"), "tunix has proxy,cpu, too: a program may use the CPU beside the chips"},
		{"JAX_BACKEND_TARGET", "the proxy's port", map[bool]string{true: "the proxy's port"}[strings.HasSuffix(variable(call, "JAX_BACKEND_TARGET"), ":29000")], ""},
		{"XCLOUD_ENVIRONMENT of the head", "GCP", variable(call, "XCLOUD_ENVIRONMENT"), ""},
		{"place of a slice", "one node pool", map[bool]string{true: "one node pool"}[w.set.Annotations["leaderworkerset.sigs.k8s.io/exclusive-topology"] == api.NodeLabelPool], ""},
		{"a worker that ends", "starts again", map[bool]string{true: "starts again"}[worker.RestartPolicy == corev1.RestartPolicyAlways], ""},
		{"kind", disagree, w.set.Kind, "it is what --backend lws needs, too; a JobSet would be one more controller to install"},
		{"machine of the head", disagree, map[bool]string{true: "a TPU host"}[maps.Equal(leader.NodeSelector, worker.NodeSelector)], "its CPUs have nothing else to do, and a pool of CPUs would cost more"},
		{"head beside a worker", disagree, fmt.Sprint(leader.Affinity != nil && leader.Affinity.PodAffinity != nil), "the set's topology keeps it in the pool of its workers; for one TPU host, the renderer adds an affinity"},
		{"restart of the head", disagree, string(leader.RestartPolicy), "a set allows no other: the runner releases the set when the call has ended"},
		{"tag of the images", disagree, fmt.Sprint(strings.Contains(manager.Image+proxy.Image+tpu.Image, ":")), "the renderer adds that of the job's JAX, and the digest: latest changes daily"},
		{"privileged", disagree, fmt.Sprint(isPrivileged(tpu) || isPrivileged(manager) || isPrivileged(proxy)), "only axlearn's and pathways-cli's workers are: GKE's TPU nodes don't need it"},
		{"host network", disagree, fmt.Sprint(leader.HostNetwork || worker.HostNetwork), "pods of the host's network have no Workload Identity, and share its ports with other jobs"},
		{"sidecars", disagree, fmt.Sprint(manager.RestartPolicy != nil && *manager.RestartPolicy == corev1.ContainerRestartPolicyAlways), "with rm and proxy as containers, the head would never end"},
		{"credentials", disagree, variable(proxy, "IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS"), "ALTS needs the machine's metadata server; the connection doesn't leave the pod"},
		{"order of start", disagree, w.set.Spec.StartupPolicy, "the head needs no worker to start, and each of them tries again"},
		{"a lost worker", disagree, w.set.Spec.LeaderWorkerTemplate.RestartPolicy, "the program has lost its data with it: all start again"},
		{"toleration", disagree, fmt.Sprint(tolerates(leader) && tolerates(worker)), "TPU nodes have the taint google.com/tpu; the head is on one of them"},
		{"scratch", disagree, fmt.Sprint(flag(manager, "--gcs_scratch_location") == ""), "the renderer adds the job's store, if that is a bucket"},
		{"MEGASCALE variables", disagree, fmt.Sprint(slices.ContainsFunc(tpu.Env, func(e corev1.EnvVar) bool { return strings.HasPrefix(e.Name, "MEGASCALE_") })), "for several slices; the tutorial's set has none"},
		{"colocated Python", disagree, fmt.Sprint(len(worker.InitContainers)), "optional, and its image must fit that of the call"},
	} {
		switch {
		case row.ours == "":
			t.Errorf("%s: ours has nothing there", row.field)
		case row.common != row.ours && row.why == "":
			t.Errorf("%s: all have %q, and ours has %q for no reason", row.field, row.common, row.ours)
		case row.common == row.ours && row.why != "":
			t.Errorf("%s: ours has %q, as all, and a reason not to: %s", row.field, row.ours, row.why)
		}
	}
}

// chips says how many chips containers ask for.
func chips(all ...corev1.Container) string {
	for _, c := range all {
		if q, ok := c.Resources.Requests["google.com/tpu"]; ok {
			return q.String()
		}
	}
	return "none"
}

// flag returns an argument of a container, with its value.
func flag(c corev1.Container, flag string) string {
	if i := slices.IndexFunc(c.Args, func(arg string) bool { return name(arg) == flag }); i >= 0 {
		return c.Args[i]
	}
	return ""
}

// name returns the name of a flag.
func name(arg string) string {
	before, _, _ := strings.Cut(arg, "=")
	return before
}

func variable(c corev1.Container, name string) string {
	if i := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name }); i >= 0 {
		return c.Env[i].Value
	}
	return ""
}

func isPrivileged(c corev1.Container) bool {
	return c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
}

func tolerates(p corev1.PodSpec) bool {
	return slices.ContainsFunc(p.Tolerations, func(t corev1.Toleration) bool {
		return t.Key == "google.com/tpu" && t.Operator == corev1.TolerationOpExists
	})
}
