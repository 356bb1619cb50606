package provider

import "github.com/kubectl-kinetic/kinetic/pkg/environment"

// A step is a way by which the packages get to the job. Its text is for people.
type step string

const (
	here    step = "this machine makes the image"
	inCloud step = "Cloud Build makes the image"
	inPod   step = "the pod installs them"
	fails   step = "a run fails"
)

// steps are the ways by which a plan's packages may get to the job, in the order in which they are tried. A run
// carries them out, a dry-run looks at them, and --explain prints them.
type steps []step

// steps returns the steps of a plan. There are none if nothing is to be installed. Before the first one, unless the
// pod is, the registry is asked whether the image is there.
func (p *Provider) steps(plan environment.Plan) (s steps) {
	builder := environment.Builder(plan.Settings.Builder)
	switch {
	case plan.Mode == environment.Custom || plan.Empty():
		return nil
	case plan.Mode == environment.Prebuilt:
		return steps{inPod}
	case builder == environment.BuilderCloudBuild:
		s = steps{inCloud}
	case builder == environment.BuilderClient || p.Cloud == nil || plan.Buildable() != nil:
		s = steps{here}
	default:
		s = steps{here, inCloud}
	}
	if !plan.Asked {
		s = append(s, inPod)
	}
	return s
}

// first returns the step that is tried first.
func (s steps) first() step {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

// chooser returns what chooses the versions if this machine can't.
func (s steps) chooser() string {
	next := s.first()
	if next == here {
		next = s.after(here)
	}
	switch next {
	case inCloud:
		return "Cloud Build"
	case inPod:
		return "the pod"
	default:
		return "nothing"
	}
}

// after returns the step that is tried where another one can't make the image.
func (s steps) after(failed step) step {
	for i, at := range s {
		if at == failed && i+1 < len(s) {
			return s[i+1]
		}
	}
	return fails
}
