package diagnose

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Messages of kubelet, containerd and registries about an image.
const (
	pullSteps    = `^.*(?:"|https?://\S+): ` // all steps up to the failure
	pulledName   = `^[^\s"]+/[^\s"]+: `      // the image's full name once more
	address      = `https?://\S+|[\w-]+(?:\.[\w-]+)+`
	wrongMachine = `(?i)no match for platform|no matching manifest`
	notUnpacked  = `(?i)content digest|snapshotter|failed to extract layer`
	denied       = `(?i)denied|unauthorized|forbidden|authentication required|insufficient_scope`
	noPart       = `(?i)content at +not found|blob[ _]unknown`
	noImage      = `(?i)not found|manifest[ _]unknown|name[ _]unknown|does not exist`
	artifactRepo = `^((?:[a-z0-9]+-)*[a-z0-9]+)-docker\.pkg\.dev/([a-z0-9-]+)/([a-z0-9-]+)/`
)

// explainImage explains why an image is missing. Between two attempts, older kubelets
// report the reason only in an event.
func (s Observation) explainImage(p corev1.Pod, c corev1.ContainerStatus, reason, message string) Diagnosis {
	image := foreign(imageOf(p, c))
	switch reason {
	case "InvalidImageName":
		return Diagnosis{Sentence: fmt.Sprintf("invalid image name %q", image), Next: DescribePod(p), Unrecoverable: true}
	case "ErrImageNeverPull":
		return Diagnosis{Sentence: fmt.Sprintf("image %s is not on node %s, and its pull policy is Never", image, p.Spec.NodeName), Next: DescribePod(p), Unrecoverable: true}
	}
	said := pullCause(message)
	if said == "" {
		if e := s.newest(func(e *corev1.Event) bool {
			return e.Reason == "Failed" && isAbout(e, "Pod", p.Name, p.UID) && strings.HasPrefix(e.Message, "Failed to pull image")
		}); e != nil {
			said = pullCause(oneLine(e.Message))
		}
	}
	return explainPull(p, image, said)
}

// pullCause returns what the registry, or the connection to it, reported last.
func pullCause(message string) string {
	if strings.HasPrefix(message, "Back-off pulling image") && !strings.Contains(message, `": `) {
		return ""
	}
	text := lazyregexp.Of(pullSteps).ReplaceAllString(message, "")
	text = lazyregexp.Of(rpcStatus).ReplaceAllString(strings.TrimPrefix(text, "ErrImagePull: "), "")
	text = strings.TrimPrefix(text, "failed to copy: httpReadSeeker: failed open: ")
	return lazyregexp.Of(pulledName).ReplaceAllString(text, "")
}

// pullFailure is a kind of answer of a registry about an image.
type pullFailure struct {
	pattern string
	// sentence is a format for the image, the node and the registry's answer.
	sentence string
	// next is a format for the project, the repository and its location, for images in
	// Artifact Registry. If it is empty, and for other images, the command is the one
	// that describes the pod.
	next          string
	unrecoverable bool
	lost          bool
}

// explainPull puts the registry's answer into our words.
func explainPull(p corev1.Pod, image, said string) Diagnosis {
	words := lazyregexp.Of(address).ReplaceAllString(said, "") // an address may contain any word
	// pullFailures are tried in order.
	pullFailures := []pullFailure{
		{wrongMachine, "image %[1]s was not built for the processor of node %[2]s", "", true, false},
		{notUnpacked, "node %[2]s can't unpack image %[1]s: %[3]s", "", false, false},
		{denied, "image %[1]s can't be pulled, access is denied: %[3]s",
			"gcloud artifacts repositories get-iam-policy %[2]s --location=%[3]s --project=%[1]s", false, false},
		{noPart, "the registry has lost a part of image %[1]s: %[3]s", "", true, true},
		{noImage, "image %[1]s does not exist, according to the registry: %[3]s",
			"gcloud artifacts docker images list %[3]s-docker.pkg.dev/%[1]s/%[2]s --include-tags", true, true},
	}
	for _, f := range pullFailures {
		if !lazyregexp.Of(f.pattern).MatchString(words) {
			continue
		}
		d := Diagnosis{Sentence: fmt.Sprintf(f.sentence, image, p.Spec.NodeName, foreign(said)), Next: DescribePod(p), Unrecoverable: f.unrecoverable, ImageLost: f.lost}
		if repo := lazyregexp.Of(artifactRepo).FindStringSubmatch(image); repo != nil && f.next != "" {
			d.Next = fmt.Sprintf(f.next, repo[2], repo[3], repo[1])
		}
		return d
	}
	return Diagnosis{Sentence: fmt.Sprintf("image %s can't be pulled%s", image, prefixed(": ", foreign(said))), Next: DescribePod(p)}
}
