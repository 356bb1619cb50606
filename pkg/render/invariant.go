package render

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/json"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// decodeAll decodes every object strictly into its Go type. Kinds of other
// groups than core and batch are taken as they are.
func decodeAll(r Rendered) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, batchv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	for _, o := range r.objects {
		into, err := scheme.New(o.GroupVersionKind())
		if runtime.IsNotRegisteredError(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := decode(o, into); err != nil {
			return fmt.Errorf("it makes a %s %s that Kubernetes would not take: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// decode fails for a field that the type doesn't have.
func decode(o *unstructured.Unstructured, into any) error {
	data, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(data, into)
	return errors.Join(append(strict, err)...)
}

// verifyJob compares what kinetic relies on before and after the overlay. The
// namespace is not among it: the kustomization sets it after the overlay.
func verifyJob(before, after Rendered, name, configMap string) error {
	was, err := jobOf(before, name)
	if err != nil {
		return err
	}
	is, err := jobOf(after, name)
	if err != nil {
		return err
	}
	for _, key := range []string{api.LabelApp, api.LabelJobID} {
		if is.Labels[key] != was.Labels[key] {
			return broken("the job's label "+key, was.Labels[key], is.Labels[key])
		}
		if was, is := was.Spec.Template.Labels[key], is.Spec.Template.Labels[key]; is != was {
			return broken("the pod's label "+key, was, is)
		}
	}
	if err := verifyWorker(was.Spec.Template.Spec, is.Spec.Template.Spec); err != nil {
		return err
	}
	return verifyRunner(before, after, configMap)
}

func broken(what string, was, is any) error {
	return fmt.Errorf("it changes %s, which kinetic needs, from %q to %q", what, was, is)
}

func jobOf(r Rendered, name string) (*batchv1.Job, error) {
	for _, o := range r.objects {
		if o.GetKind() == "Job" && o.GetName() == name {
			var job batchv1.Job
			return &job, decode(o, &job)
		}
	}
	return nil, fmt.Errorf("it removes or renames the job %s", name)
}

// verifyWorker looks at the container that runs the call.
func verifyWorker(was, is corev1.PodSpec) error {
	a, b := worker(was), worker(is)
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
	for _, mount := range a.VolumeMounts {
		if mount.SubPath != runnerFile {
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

func worker(pod corev1.PodSpec) *corev1.Container {
	i := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == api.ContainerName })
	if i < 0 {
		return nil
	}
	return &pod.Containers[i]
}

func volume(pod corev1.PodSpec, name string) *corev1.Volume {
	i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return &pod.Volumes[i]
}

// verifyRunner looks at what jobs share with each other: labels may differ.
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
