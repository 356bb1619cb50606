package diagnose

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const (
	// brokenClaim is what the scheduler says of a claim that waiting does not help.
	brokenClaim = `\bpersistentvolumeclaim "([a-z0-9][a-z0-9.-]*)" (is being deleted|bound to non-existent persistentvolume)`
	// unboundClaim is what it says of claims without a volume.
	unboundClaim = `unbound immediate PersistentVolumeClaims|didn't find available persistent volumes to bind|did not have enough free storage|ephemeral volume controller|binding volumes`
	provisioner  = `external provisioner '([a-z0-9.-]+)'`
	ephemeral    = `^ephemeral volume (\S+): (.*)$`
)

const claimKind = "PersistentVolumeClaim"

// Claims returns the names of the claims that a pod mounts, those of its own volumes included.
func Claims(p corev1.Pod) []string {
	var names []string
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, p.Name+"-"+v.Name)
		}
	}
	return names
}

// explainClaims explains a pod without a node that waits for the volume of a claim. It returns
// nothing if the scheduler complains of something else.
func (s Observation) explainClaims(p corev1.Pod, says string) Diagnosis {
	if m := lazyregexp.Of(brokenClaim).FindStringSubmatch(says); m != nil {
		state := "is being deleted"
		if m[2] != state {
			state = "has lost its volume"
		}
		return aboutClaim(p, m[1], "", " "+state)
	}
	if says != "" && !lazyregexp.Of(unboundClaim).MatchString(says) {
		return Diagnosis{}
	}
	if e := s.newestOf(p, "FailedBinding"); e != nil {
		if m := lazyregexp.Of(ephemeral).FindStringSubmatch(oneLine(e.Message)); m != nil {
			return Diagnosis{Sentence: fmt.Sprintf("volume %s can't be made: %s", foreign(m[1]), foreign(m[2])), Next: DescribePod(p)}
		}
	}
	claims := Claims(p)
	for _, name := range claims {
		if d := s.explainClaim(p, name); d.Sentence != "" {
			return d
		}
	}
	if says == "" || len(claims) == 0 {
		return Diagnosis{}
	}
	return Diagnosis{
		Sentence: "no volume yet for persistentvolumeclaim " + foreign(strings.Join(claims, " or ")),
		Next:     "kubectl get persistentvolumeclaims -n " + p.Namespace,
	}
}

// explainClaim explains by its newest event why a claim has no volume.
func (s Observation) explainClaim(p corev1.Pod, name string) Diagnosis {
	reasons := []string{"ProvisioningFailed", "FailedBinding", "VolumeMismatch", "ClaimLost", "ExternalProvisioning", "Provisioning", "ProvisioningSucceeded"}
	e := s.newest(func(e *corev1.Event) bool {
		return slices.Contains(reasons, e.Reason) && isAbout(e, claimKind, name, "")
	})
	if e == nil || e.Reason == "ProvisioningSucceeded" {
		return Diagnosis{}
	}
	message := oneLine(e.Message)
	switch e.Reason {
	case "ExternalProvisioning", "Provisioning":
		by := ""
		if m := lazyregexp.Of(provisioner).FindStringSubmatch(message); m != nil {
			by = " by " + m[1]
		}
		return aboutClaim(p, name, "the volume of ", " is being made"+by)
	case "ProvisioningFailed":
		return aboutClaim(p, name, "no volume can be made for ", ": "+foreign(lazyregexp.Of(rpcStatus).ReplaceAllString(message, "")))
	}
	return aboutClaim(p, name, "", " gets no volume: "+foreign(message))
}

// aboutClaim returns a sentence about a claim, and the command that shows more.
func aboutClaim(p corev1.Pod, name, before, after string) Diagnosis {
	return Diagnosis{
		Sentence: before + "persistentvolumeclaim " + foreign(name) + after,
		Next:     fmt.Sprintf("kubectl describe persistentvolumeclaim %s -n %s", name, p.Namespace),
	}
}
