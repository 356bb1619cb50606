package provider

import (
	"fmt"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/environment"
	"github.com/kubectl-kinetic/kinetic/pkg/image"
	"github.com/kubectl-kinetic/kinetic/pkg/resolver"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// Outlook says what providing an environment would take.
type Outlook struct {
	// Resolved says what chooses the versions: "uv.lock", "uv", "Cloud Build", "the pod", "an earlier run",
	// "nothing".
	Resolved string
	// Why says why so.
	Why string
	// Wheels are the packages, and Bytes is what they have together, as far as that is known; 0 if
	// it is not.
	Wheels []image.Wheel
	Bytes  int64
	// How says how the packages get to the job.
	How string
}

// Outlook says what Provide would do. It contacts and runs nothing.
func (p *Provider) Outlook(plan environment.Plan) Outlook {
	steps := p.steps(plan)
	if len(steps) == 0 {
		return Outlook{}
	}
	way, why := p.Resolver.Way(p.wish(plan, p.known(plan)))
	o := Outlook{Resolved: string(way), Why: why}
	switch way {
	case resolver.Nothing: // until the files that URLs name are fetched
		o.Resolved = "a run"
	case resolver.Pod:
		o.Resolved = steps.chooser()
	case resolver.Hashes:
		o.Resolved = plan.Wanted.Source
	}
	o.Wheels = plan.Locked
	if found, ok := p.pinned(plan); ok {
		if !plan.IsLock() {
			o.Resolved, o.Why = "an earlier run", "they stay until --refresh-deps"
		}
		if len(o.Wheels) == 0 {
			o.Wheels = found.Wheels
		}
	}
	for _, w := range o.Wheels {
		o.Bytes += w.Size
	}
	o.How = how(steps, plan, way, o)
	return o
}

// how says how the packages get to the job: the first of the steps that this machine knows to be possible.
func how(s steps, plan environment.Plan, way resolver.Way, o Outlook) string {
	next, most := s.after(here), limit(plan)
	switch {
	case s.first() == inPod:
		return string(inPod)
	case s.first() == inCloud:
		return string(inCloud) + ", unless it is there"
	case plan.NeedsBuild():
		return string(next) + ", unless the image is there: some have no wheel"
	case way == resolver.Pod && len(o.Wheels) == 0:
		return string(next) + ", unless the image is there"
	case o.Bytes <= most && sized(o.Wheels):
		return fmt.Sprintf("%s, unless it is there, and sends at most %s", here, ui.Bytes(most))
	default:
		return fmt.Sprintf("%s, unless it is there; if more than %s (--image-upload-limit) have to be sent, %s", here, ui.Bytes(most), next)
	}
}

// sized reports whether packages and the sizes of all are known.
func sized(wheels []image.Wheel) bool {
	return len(wheels) > 0 && !slices.ContainsFunc(wheels, func(w image.Wheel) bool { return w.Size == 0 })
}
