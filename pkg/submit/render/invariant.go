package render

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	strictjson "sigs.k8s.io/json"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// decodeAll decodes every object strictly into its Go type, and the pods of a
// LeaderWorkerSet. It ignores other kinds outside the groups core and batch.
func decodeAll(r Rendered) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, batchv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	for _, o := range r.objects {
		if err := decodeOne(o, scheme); err != nil {
			return fmt.Errorf("it creates a %s %s that is invalid: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func decodeOne(o *unstructured.Unstructured, scheme *runtime.Scheme) error {
	if o.GetKind() == leaderWorkerSetKind.Kind {
		_, err := podsOf(o)
		return err
	}
	into, err := scheme.New(o.GroupVersionKind())
	if runtime.IsNotRegisteredError(err) {
		return nil
	}
	return errors.Join(err, decode(o.Object, into))
}

func podsOf(o *unstructured.Unstructured) (map[string]corev1.PodTemplateSpec, error) {
	places := [][]string{{"spec", "template"}}
	if o.GetKind() == leaderWorkerSetKind.Kind {
		places = [][]string{{"spec", "leaderWorkerTemplate", "leaderTemplate"}, {"spec", "leaderWorkerTemplate", "workerTemplate"}}
	}
	pods := map[string]corev1.PodTemplateSpec{}
	for _, place := range places {
		content, _, err := unstructured.NestedMap(o.Object, place...)
		if err != nil {
			return nil, err
		}
		var pod corev1.PodTemplateSpec
		where := strings.Join(place, ".")
		if err := decode(content, &pod); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		pods[where] = pod
	}
	return pods, nil
}

// decode fails for a field that the type doesn't have.
func decode(content map[string]any, into any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	strict, err := strictjson.UnmarshalStrict(data, into)
	return errors.Join(append(strict, err)...)
}

// verifyWorkload compares what kinetic relies on before and after the overlay. It ignores
// the namespace, which the kustomization sets after the overlay.
func verifyWorkload(s api.Spec, before, after Rendered, configMap string) error {
	was, err := workloadOf(before, s.JobName())
	if err != nil {
		return err
	}
	is, err := workloadOf(after, s.JobName())
	if err != nil {
		return err
	}
	if err := verifyFields(was, is); err != nil {
		return err
	}
	pods, err := podsOf(was)
	if err != nil {
		return err
	}
	changed, err := podsOf(is)
	if err != nil {
		return err
	}
	for _, place := range slices.Sorted(maps.Keys(pods)) {
		if err := verifyPod(pods[place], changed[place]); err != nil {
			return err
		}
		if err := verifyVariables(s, worker(pods[place].Spec), worker(changed[place].Spec)); err != nil {
			return err
		}
	}
	return verifyRunner(before, after, configMap)
}

// verifyFields checks what finds a job's objects, counts its hosts, restarts them
// together, gives them node pools and lets them into a queue. An overlay may remove the
// rule for node pools, as --slice-node-pool shared does, but not replace it.
func verifyFields(was, is *unstructured.Unstructured) error {
	for _, key := range []string{api.LabelApp, api.LabelJobID} {
		if is.GetLabels()[key] != was.GetLabels()[key] {
			return broken("the job's label "+key, was.GetLabels()[key], is.GetLabels()[key])
		}
	}
	for _, field := range [][]string{{"spec", "completions"}, {"spec", "parallelism"}, {"spec", "replicas"},
		{"spec", "leaderWorkerTemplate", "size"}, {"spec", "leaderWorkerTemplate", "restartPolicy"}} {
		before, found, _ := unstructured.NestedFieldNoCopy(was.Object, field...)
		after, _, _ := unstructured.NestedFieldNoCopy(is.Object, field...)
		if found && !reflect.DeepEqual(before, after) {
			return broken("the job's "+strings.Join(field, "."), fmt.Sprint(before), fmt.Sprint(after))
		}
	}
	for _, key := range []string{exclusiveTopology, exclusiveSubGroups} {
		before, after := was.GetAnnotations()[key], is.GetAnnotations()[key]
		if before != "" && after != "" && before != after {
			return broken("the job's annotation "+key, before, after)
		}
	}
	if queue := is.GetLabels()[api.LabelQueue]; queue != "" && is.GetKind() == leaderWorkerSetKind.Kind && queue != was.GetLabels()[api.LabelQueue] {
		return fmt.Errorf("it sets the label %s of a LeaderWorkerSet, whose name may be too long for Kueue, to %q: use --queue instead", api.LabelQueue, queue)
	}
	return nil
}

func broken(what string, was, is any) error {
	return fmt.Errorf("it changes %s, which kinetic needs, from %q to %q", what, was, is)
}

func workloadOf(r Rendered, name string) (*unstructured.Unstructured, error) {
	for _, o := range r.objects {
		if (o.GetKind() == jobKind.Kind || o.GetKind() == leaderWorkerSetKind.Kind) && o.GetName() == name {
			return o, nil
		}
	}
	return nil, fmt.Errorf("it removes or renames the job %s", name)
}

// verifyPod checks the labels of a pod, its nodes, and the container that runs the call.
func verifyPod(was, is corev1.PodTemplateSpec) error {
	for _, key := range []string{api.LabelApp, api.LabelJobID} {
		if is.Labels[key] != was.Labels[key] {
			return broken("the pod's label "+key, was.Labels[key], is.Labels[key])
		}
	}
	return cmp.Or(verifyCapacity(was.Spec, is.Spec), verifyNodePool(was.Spec, is.Spec), verifyWorker(was.Spec, is.Spec))
}

// verifyCapacity checks what chooses the nodes. With a ComputeClass, GKE creates nodes by
// the class's rules alone, and a pod that also selects other nodes would wait forever.
func verifyCapacity(was, is corev1.PodSpec) error {
	class := is.NodeSelector[api.NodeLabelComputeClass]
	if class == "" || api.IsBuiltInClass(class) {
		return verifyPlacement(was, is)
	}
	for _, key := range []string{api.NodeLabelTPU, api.NodeLabelTopology, api.NodeLabelGPU, api.NodeLabelChips} {
		if value, both := is.NodeSelector[key]; both {
			return fmt.Errorf("its pods select the ComputeClass %s and also %s=%s, but the class alone decides which machines are used: use --compute-class %s and remove that selector", class, key, value, class)
		}
	}
	return nil
}

// verifyPlacement checks that the pod still tolerates what it did, and selects the nodes that
// it did: a patch that replaces the list or the map drops entries silently. Tolerations of GPUs and
// TPUs may go: the cluster adds them to pods that request these. A patch that
// takes a selector away and adds none, or gives it another value, does so on purpose.
func verifyPlacement(was, is corev1.PodSpec) error {
	for _, t := range was.Tolerations {
		covers := func(o corev1.Toleration) bool {
			return (o.Key == "" || o.Key == t.Key) && (o.Operator == corev1.TolerationOpExists || o.Operator == t.Operator && o.Value == t.Value) && (o.Effect == "" || o.Effect == t.Effect)
		}
		if t.Key != api.ResourceGPU && t.Key != api.ResourceTPU && !slices.ContainsFunc(is.Tolerations, covers) {
			return fmt.Errorf("it removes the toleration of the taint %s, without which the pods can't have their nodes: add to the list (/tolerations/-) instead of replacing it", t.Key)
		}
	}
	for _, key := range missing(was.NodeSelector, is.NodeSelector) {
		if added := missing(is.NodeSelector, was.NodeSelector); len(added) > 0 {
			return fmt.Errorf("it removes the selector %s=%s of the pods, and adds %s: add to the map (%s) instead of replacing it; to have other nodes, remove the selector and add to affinity/nodeAffinity",
				key, was.NodeSelector[key], added[0], pointer("/nodeSelector", added[0]))
		}
	}
	return nil
}

// missing returns the keys of all that some lacks, in order.
func missing(all, some map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(key string) bool { _, has := some[key]; return has })
}

// verifyNodePool checks that the rules made by nodePool are still there: a patch that
// replaces the affinity, and a merge of its lists, would drop them silently. A patch that
// removes them and adds nothing does so on purpose.
func verifyNodePool(was, is corev1.PodSpec) error {
	together, apart := podRules(was)
	keptTogether, keptApart := podRules(is)
	if containsRules(keptTogether, together) && containsRules(keptApart, apart) || onlyRemoves(was.Affinity, is.Affinity) {
		return nil
	}
	return errors.New("it removes the affinity that keeps each slice in its own node pool: add to affinity/nodeAffinity or to the existing list instead, or use --slice-node-pool shared")
}

// onlyRemoves reports whether an affinity has nothing that it did not have before.
func onlyRemoves(was, is *corev1.Affinity) bool {
	if was == nil || is == nil {
		return is == nil
	}
	return (is.NodeAffinity == nil || reflect.DeepEqual(was.NodeAffinity, is.NodeAffinity)) &&
		(is.PodAffinity == nil || reflect.DeepEqual(was.PodAffinity, is.PodAffinity)) &&
		(is.PodAntiAffinity == nil || reflect.DeepEqual(was.PodAntiAffinity, is.PodAntiAffinity))
}

// podRules returns what a pod requires of the pods around it.
func podRules(pod corev1.PodSpec) (together, apart []corev1.PodAffinityTerm) {
	if pod.Affinity == nil {
		return nil, nil
	}
	if a := pod.Affinity.PodAffinity; a != nil {
		together = a.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if a := pod.Affinity.PodAntiAffinity; a != nil {
		apart = a.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return together, apart
}

func containsRules(all, some []corev1.PodAffinityTerm) bool {
	for _, rule := range some {
		if !slices.ContainsFunc(all, func(r corev1.PodAffinityTerm) bool { return reflect.DeepEqual(r, rule) }) {
			return false
		}
	}
	return true
}

func verifyWorker(was, is corev1.PodSpec) error {
	a, b := worker(was), worker(is)
	if a == nil { // a pod of the Pathways runtime
		return nil
	}
	if b == nil {
		return fmt.Errorf("it removes or renames the container %s", api.ContainerName)
	}
	if !slices.Equal(a.Command, b.Command) {
		return broken("the command of container "+api.ContainerName, a.Command, b.Command)
	}
	if len(b.Args) < len(a.Args) || !slices.Equal(a.Args, b.Args[:len(a.Args)]) {
		return broken("the arguments of container "+api.ContainerName, a.Args, b.Args)
	}
	if was.RestartPolicy != is.RestartPolicy {
		return broken("the pod's restartPolicy", was.RestartPolicy, is.RestartPolicy)
	}
	if a.ReadinessProbe != nil && !reflect.DeepEqual(a.ReadinessProbe, b.ReadinessProbe) {
		return fmt.Errorf("it changes the readinessProbe of container %s, from which kinetic knows that the job has ended", api.ContainerName)
	}
	if hasToken(was) && !hasToken(is) {
		return errors.New("it removes the token that the leader needs to end the job")
	}
	for _, mount := range a.VolumeMounts {
		if mount.Name != runnerVolume {
			continue
		}
		if !slices.ContainsFunc(b.VolumeMounts, func(m corev1.VolumeMount) bool { return reflect.DeepEqual(m, mount) }) {
			return fmt.Errorf("it changes or removes the mount of the runner at %s", mount.MountPath)
		}
		if !reflect.DeepEqual(volume(was, mount.Name), volume(is, mount.Name)) {
			return fmt.Errorf("it changes or removes the volume %s of the runner", mount.Name)
		}
	}
	return nil
}

// verifyVariables checks that the user's variables and those of the runner are still there: a patch that replaces the list drops
// them silently. Defaults, such as JAX_PLATFORMS, may be removed; KERAS_BACKEND may be one, though the spec has it. A merge patch
// that sets the variable of a secret gives it a value besides its valueFrom, which the API server refuses.
func verifyVariables(s api.Spec, was, is *corev1.Container) error {
	if was == nil { // a pod of the Pathways runtime
		return nil
	}
	needed := slices.Clone(s.SecretEnv)
	for _, e := range s.Env {
		if e.Name != "KERAS_BACKEND" {
			needed = append(needed, e.Name)
		}
	}
	for _, e := range was.Env {
		kept := slices.ContainsFunc(is.Env, func(o corev1.EnvVar) bool { return o.Name == e.Name })
		if !kept && (strings.HasPrefix(e.Name, "KINETIC_") || slices.Contains(needed, e.Name)) {
			return fmt.Errorf("it removes the variable %s of container %s, which the job needs: add to the list (/env/-) instead of replacing it", e.Name, api.ContainerName)
		}
	}
	for _, e := range is.Env {
		if e.Value != "" && e.ValueFrom != nil {
			return fmt.Errorf("it gives the variable %s of container %s a value in addition to its valueFrom: add valueFrom: null to the patch", e.Name, api.ContainerName)
		}
	}
	return nil
}

func hasToken(pod corev1.PodSpec) bool {
	return pod.AutomountServiceAccountToken != nil && *pod.AutomountServiceAccountToken
}

func worker(pod corev1.PodSpec) *corev1.Container {
	i := slices.IndexFunc(pod.Containers, isWorker)
	if i < 0 {
		return nil
	}
	return &pod.Containers[i]
}

func isWorker(c corev1.Container) bool { return c.Name == api.ContainerName }

func volume(pod corev1.PodSpec, name string) *corev1.Volume {
	i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return &pod.Volumes[i]
}

// verifyRunner checks the parts of the runner's ConfigMap that jobs share; labels may
// differ.
func verifyRunner(before, after Rendered, name string) error {
	was, is := configMap(before, name), configMap(after, name)
	if is == nil {
		return fmt.Errorf("it removes or renames the ConfigMap %s", name)
	}
	for _, field := range []string{"data", "binaryData", "immutable"} {
		if !reflect.DeepEqual(was.Object[field], is.Object[field]) {
			return fmt.Errorf("it changes %s of the ConfigMap %s, which jobs share", field, name)
		}
	}
	return nil
}

func configMap(r Rendered, name string) *unstructured.Unstructured {
	for _, o := range r.objects {
		if o.GetKind() == "ConfigMap" && o.GetName() == name {
			return o
		}
	}
	return nil
}
