package provide

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// A step is a way by which the packages get to the job. Its text is for people.
type step string

const (
	there   step = "the image is there"
	here    step = "this machine makes the image"
	inCloud step = "Cloud Build makes the image"
	inPod   step = "the pod installs them"
	fails   step = "a run fails"
)

// steps are the ways by which a plan's packages may get to the job, in the order in which they are tried. A run
// carries them out, a dry-run looks at them, and --explain prints them: all by walk.
type steps []step

// steps returns the steps of a plan. There are none if nothing is to be installed.
func (p *Provider) steps(plan decide.Plan) (s steps) {
	builder := decide.Builder(plan.Settings.Builder)
	switch {
	case plan.Mode == decide.Custom || plan.Empty():
		return nil
	case plan.Mode == decide.Prebuilt:
		return steps{inPod}
	}
	if !plan.InBase && !plan.Settings.VerifyLayers && !p.lost(plan) && (!plan.Settings.RefreshDeps || plan.IsLock()) {
		s = steps{there}
	}
	switch {
	case builder == decide.BuilderCloudBuild:
		s = append(s, inCloud)
	case builder == decide.BuilderClient || p.Cloud == nil || plan.Buildable() != nil:
		s = append(s, here)
	default:
		s = append(s, here, inCloud)
	}
	if !plan.Asked {
		s = append(s, inPod)
	}
	return s
}

// walk tries the steps until one provides the packages, and returns that one. attempt tries a step and reports whether
// it does; because is why the one before did not. After an error, only steps that could do better are tried. If there
// is none, the step is fails, and the error is the last one.
func (s steps) walk(attempt func(at step, because error) (bool, error)) (step, error) {
	var because error
	for _, at := range s {
		if _, others := obstacle(because); because != nil && !slices.Contains(others, at) {
			continue
		}
		done, err := attempt(at, because)
		if done {
			return at, nil
		}
		because = err
	}
	return fails, because
}

// obstacle returns why a step can't provide the packages, and which steps could do better. There are none if the error
// is another one, which they would have, too.
func obstacle(err error) (why string, others steps) {
	var registry *image.RegistryError
	var limit *image.LimitError
	var notHere *resolve.NotHereError
	var build *resolve.NeedsBuildError
	var cloud *CloudError
	switch {
	case errors.As(err, &cloud):
		if cloud.Lasting() {
			return firstLine(err), steps{inPod}
		}
	case errors.As(err, &registry) && (registry.Denied() || registry.Busy() || registry.Status() == 0):
		return closed(registry), steps{inPod}
	case errors.As(err, &limit), errors.As(err, &notHere), errors.As(err, &build):
		return firstLine(err), steps{inCloud, inPod}
	}
	return "", nil
}

// closed says that a registry can't be used, and what would help.
func closed(registry *image.RegistryError) string {
	answer := "no answer"
	if request := new(url.Error); !errors.As(registry.Err, &request) {
		answer = firstLine(registry.Err) // such as the failure of a credential helper
	}
	if code := registry.Status(); code != 0 {
		answer = fmt.Sprintf("%d %s", code, http.StatusText(code))
	}
	switch {
	case registry.Reading():
		return fmt.Sprintf("the base image can't be pulled from %s (%s); to try again, use --image bundled", registry.Repository, answer)
	case registry.Status() == http.StatusNotFound:
		return fmt.Sprintf("images can't be pushed to %s (%s): create the repository, or name another with --image-repo", registry.Repository, answer)
	}
	return fmt.Sprintf("images can't be pushed to %s (%s); to try again, use --image bundled", registry.Repository, answer)
}

func firstLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}
