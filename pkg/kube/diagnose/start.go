package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const (
	missingObject = `\b(configmap|secret|persistentvolumeclaim) "([a-z0-9][a-z0-9.-]*)" not found`
	volumeFailed  = `volume "([^"]*)"\s*:? (.*)$`
	rpcStatus     = `rpc error: code = \w+ desc = `
	noProgram     = `exec: "([^"]*)": (?:executable file not found|.*no such file or directory)`
)

// explainStart explains a pod that has a node and doesn't run yet.
func (s Observation) explainStart(p corev1.Pod) Diagnosis {
	for _, c := range byImportance(p) {
		if w := c.State.Waiting; w != nil {
			if r := s.explainContainer(p, c, w); r.Sentence != "" {
				if title := partTitle(c.Name); title != "" {
					r.Sentence, r.ImageLost = title+": "+r.Sentence, false // not the job's image
				}
				return r
			}
		}
	}
	e := s.newestOf(p, "FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox", "Pulling", "Pulled")
	if e == nil {
		return Diagnosis{}
	}
	switch e.Reason {
	case "Pulled":
		return Diagnosis{}
	case "Pulling":
		image := strings.Trim(strings.TrimPrefix(oneLine(e.Message), "Pulling image "), `"`)
		r := Diagnosis{Sentence: api.PullingImage + foreign(image), Next: DescribePod(p)}
		if s.Now.Sub(eventTime(e)) >= longPull { // before that, the time says little
			r.Sentence += " for " + s.since(e)
		}
		return r
	case "FailedCreatePodSandBox":
		text := strings.TrimPrefix(lazyregexp.Of(rpcStatus).ReplaceAllString(oneLine(e.Message), ""), "Failed to create pod sandbox: ")
		return Diagnosis{Sentence: fmt.Sprintf("node %s can't set up the pod: %s", p.Spec.NodeName, foreign(text)), Next: DescribePod(p)}
	}
	return s.explainVolume(p, e)
}

// longPull is how long an image must have been pulled before the sentence says how long.
const longPull = 10 * time.Second

// byImportance sorts the pod's containers by name, with the worker first: what stops a
// sidecar, such as GKE's for buckets, stops the worker, too.
func byImportance(p corev1.Pod) []corev1.ContainerStatus {
	rank := func(c corev1.ContainerStatus) string {
		if c.Name == api.ContainerName {
			return ""
		}
		return c.Name
	}
	all := slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses)
	slices.SortFunc(all, func(a, b corev1.ContainerStatus) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

// explainContainer explains why a container waits, unless that usually passes in a
// moment.
func (s Observation) explainContainer(p corev1.Pod, c corev1.ContainerStatus, w *corev1.ContainerStateWaiting) Diagnosis {
	message := oneLine(w.Message)
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError",
		"RegistryUnavailable", "SignatureValidationFailed":
		return s.explainImage(p, c, w.Reason, message)
	case "CreateContainerConfigError":
		return configError(p, message)
	case "CreateContainerError", "RunContainerError":
		if strings.HasSuffix(message, deadMount) {
			return s.explainDeadMount(p)
		}
		return startError(p, imageOf(p, c), message)
	case "CrashLoopBackOff":
		r := Diagnosis{Sentence: fmt.Sprintf("container %s keeps crashing", c.Name), Next: DescribePod(p)}
		if t := c.LastTerminationState.Terminated; t != nil {
			r.Sentence += fmt.Sprintf(": exit code %d%s", t.ExitCode, prefixed(", ", foreign(t.Reason)))
			if c.Name == Sidecar && t.Reason == "OOMKilled" {
				r.Sentence, r.Unrecoverable = r.Sentence+"; "+MoreMemory, true
			}
		}
		return r
	}
	return Diagnosis{}
}

// imageOf returns the image as the manifest names it: the status may have another name
// for the same image.
func imageOf(p corev1.Pod, status corev1.ContainerStatus) string {
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		if c.Name == status.Name {
			return c.Image
		}
	}
	return status.Image
}

// configError explains an error in the container's environment or user.
func configError(p corev1.Pod, message string) Diagnosis {
	if m := lazyregexp.Of(missingObject).FindStringSubmatch(message); m != nil {
		made := prefixed("; if the submit was cut off, repeat it with --job-id ", idOfSecret(p, m[1], m[2]))
		return missing(p, m[1], m[2], made)
	}
	if strings.Contains(message, "runAsNonRoot") {
		return Diagnosis{Sentence: "the image runs as root, which the pod's security context does not allow: " + foreign(message), Next: DescribePod(p), Unrecoverable: true}
	}
	return Diagnosis{Sentence: "the container can't be configured: " + foreign(message), Next: DescribePod(p)}
}

// idOfSecret returns the ID of the pod's job if the object is the Secret that the job's
// submit creates, else "".
func idOfSecret(p corev1.Pod, kind, name string) string {
	id := p.Labels[api.LabelJobID]
	if kind != "secret" || name != (api.Spec{ID: id}).SecretName() {
		return ""
	}
	return id
}

func missing(p corev1.Pod, kind, name, use string) Diagnosis {
	return Diagnosis{
		Sentence: fmt.Sprintf("%s %s is missing in namespace %s%s", kind, name, p.Namespace, use),
		Next:     fmt.Sprintf("kubectl get %s %s -n %s", kind, name, p.Namespace),
	}
}

// startError explains a container whose program could not be started, in most cases
// because the image has no python3.
func startError(p corev1.Pod, image, message string) Diagnosis {
	message = lazyregexp.Of(rpcStatus).ReplaceAllString(message, "")
	if m := lazyregexp.Of(noProgram).FindStringSubmatch(message); m != nil {
		program := foreign(m[1])
		r := Diagnosis{Sentence: fmt.Sprintf("image %s has no %s", foreign(image), program), Next: DescribePod(p), Unrecoverable: true}
		if program == "python3" {
			r.Sentence += ", which the runner needs (3.9 or newer): choose another with --image"
		}
		return r
	}
	return Diagnosis{Sentence: "the container can't be started: " + foreign(message), Next: DescribePod(p)}
}

// explainVolume explains why a volume can't be mounted. One of the kubelet's two messages
// lists the volumes that it waits for, but doesn't say why: the other one is used.
func (s Observation) explainVolume(p corev1.Pod, e *corev1.Event) Diagnosis {
	const listing = "Unable to attach or mount volumes"
	if strings.HasPrefix(e.Message, listing) {
		cause := s.newest(func(e *corev1.Event) bool {
			return e.Reason == "FailedMount" && isAbout(e, "Pod", p.Name, p.UID) && !strings.HasPrefix(e.Message, listing)
		})
		if cause != nil {
			e = cause
		}
	}
	if r := s.explainFuse(p, e); r.Sentence != "" {
		return r
	}
	message := oneLine(e.Message)
	volume, text := "", message
	if m := lazyregexp.Of(volumeFailed).FindStringSubmatch(message); m != nil {
		volume, text = foreign(m[1])+" ", lazyregexp.Of(rpcStatus).ReplaceAllString(m[2], "")
	}
	if m := lazyregexp.Of(missingObject).FindStringSubmatch(text); m != nil {
		return missing(p, m[1], m[2], prefixed(", which volume ", strings.TrimSpace(volume)+" mounts"))
	}
	if disk, machine := accelerator.Unattachable(text); disk != "" {
		return Diagnosis{Next: DescribePod(p), Unrecoverable: true,
			Sentence: fmt.Sprintf("volume %sis a %s disk, which machines of type %s can't attach: name another StorageClass (--disk SIZE,CLASS) or another claim", volume, foreign(disk), foreign(machine))}
	}
	return Diagnosis{Sentence: fmt.Sprintf("volume %scan't be mounted: %s", volume, foreign(text)), Next: DescribePod(p)}
}
