package kube

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

// What kubelet, containerd and registries say of an image.
var (
	pullSteps    = pattern.Lazy(`^.*(?:"|https?://\S+): `) // all that was tried, up to the failure
	pulledName   = pattern.Lazy(`^[^\s"]+/[^\s"]+: `)      // the image's full name once more
	address      = pattern.Lazy(`https?://\S+|[\w-]+(?:\.[\w-]+)+`)
	wrongMachine = pattern.Lazy(`(?i)no match for platform|no matching manifest`)
	denied       = pattern.Lazy(`(?i)denied|unauthorized|forbidden|authentication required|insufficient_scope`)
	noImage      = pattern.Lazy(`(?i)not found|manifest[ _]unknown|name[ _]unknown|does not exist`)
	artifactRepo = pattern.Lazy(`^((?:[a-z0-9]+-)*[a-z0-9]+)-docker\.pkg\.dev/([a-z0-9-]+)/([a-z0-9-]+)/`)
)

// unpulled explains an image that is not there. Between two attempts older
// kubelets tell the cause in an event only.
func (s situation) unpulled(p corev1.Pod, c corev1.ContainerStatus, reason, message string) cause {
	image := foreign(imageOf(p, c))
	switch reason {
	case "InvalidImageName":
		return cause{Sentence: fmt.Sprintf("%q is no name of an image", image), Next: describePod(p), Hopeless: true}
	case "ErrImageNeverPull":
		return cause{Sentence: fmt.Sprintf("image %s is not on node %s, and its pull policy is Never", image, p.Spec.NodeName), Next: describePod(p), Hopeless: true}
	}
	said := pullCause(message)
	if said == "" {
		if e := s.newest(func(e *corev1.Event) bool {
			return e.Reason == "Failed" && isAbout(e, "Pod", p.Name, p.UID) && strings.HasPrefix(e.Message, "Failed to pull image")
		}); e != nil {
			said = pullCause(oneLine(e.Message))
		}
	}
	return pullReason(p, image, said)
}

// pullCause is what the registry, or the way to it, said in the end.
func pullCause(message string) string {
	if strings.HasPrefix(message, "Back-off pulling image") && !strings.Contains(message, `": `) {
		return ""
	}
	text := pullSteps().ReplaceAllString(message, "")
	text = rpcStatus().ReplaceAllString(strings.TrimPrefix(text, "ErrImagePull: "), "")
	return pulledName().ReplaceAllString(text, "")
}

func pullReason(p corev1.Pod, image, said string) cause {
	r := cause{Sentence: fmt.Sprintf("image %s can't be pulled%s", image, prefixed(": ", foreign(said))), Next: describePod(p)}
	repo := artifactRepo().FindStringSubmatch(image)
	// An address may have any word in it.
	switch words := address().ReplaceAllString(said, ""); {
	case wrongMachine().MatchString(words):
		r.Sentence = fmt.Sprintf("image %s was not built for the processor of node %s", image, p.Spec.NodeName)
		r.Hopeless = true
	case denied().MatchString(words):
		r.Sentence = fmt.Sprintf("image %s can't be pulled, access is denied: %s", image, foreign(said))
		if repo != nil {
			r.Next = fmt.Sprintf("gcloud artifacts repositories get-iam-policy %s --location=%s --project=%s", repo[3], repo[1], repo[2])
		}
	case noImage().MatchString(words):
		r.Sentence = fmt.Sprintf("image %s does not exist: the registry says %s", image, foreign(said))
		r.Hopeless = true
		if repo != nil {
			r.Next = fmt.Sprintf("gcloud artifacts docker images list %s-docker.pkg.dev/%s/%s --include-tags", repo[1], repo[2], repo[3])
		}
	}
	return r
}
