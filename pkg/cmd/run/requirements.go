package run

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/packaging"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// plan plans the job. It plans again when it has fetched files of requirements that URLs name, because their lines
// are part of the image's name. A mode that contacts nothing takes them as they were fetched last.
func (o *options) plan(ctx context.Context, id submit.Identity) (submit.Planned, error) {
	var said []string
	o.machine.Texts, o.machine.Inputs = map[string][]byte{}, &submit.MapInputs{}
	for {
		planned, err := submit.Plan(ctx, o.request, o.target, o.machine, id)
		if err != nil && o.earlier != nil {
			err = fmt.Errorf("--like %s: %w", o.earlier.ID(), err)
		}
		if err != nil {
			return planned, planError(ctx, err)
		}
		unfetched := planned.Environment.Wanted.Unfetched
		if planned.Environment.Mode == decide.Custom {
			unfetched = nil // nothing is installed
		}
		known := len(o.machine.Texts)
		for _, l := range unfetched {
			about, err := o.text(ctx, planned, l)
			if err != nil {
				return planned, err
			}
			if about != "" {
				said = append(said, about)
			}
		}
		if len(o.machine.Texts) == known {
			for _, l := range unfetched {
				said = append(said, fmt.Sprintf("%s: %s is fetched only when a job is submitted; until then, %s", l.Place(), deps.Hidden(l.Text), o.unknown(planned)))
			}
			planned.Warnings = append(planned.Warnings, said...)
			switch err := o.provider(ctx, planned).Check(planned.Environment); {
			case err == nil:
			case planned.Environment.Mode != decide.Bundled:
				return planned, cli.Usage(err)
			case !o.mode.contacts(): // the others ask whether the image is there, and stop if it is not
				planned.Warnings = append(planned.Warnings, err.Error()+"; a run fails, unless the image is there")
			}
			return planned, nil
		}
	}
}

// unknown says what is not known without a file of requirements. Manifests and overlays have to name some image.
func (o *options) unknown(p submit.Planned) string {
	switch {
	case p.Environment.Mode != decide.Bundled:
		return "its contents are not known"
	case o.mode == modeExplain:
		return "neither its contents nor the image name is known"
	}
	return fmt.Sprintf("its contents are not known, and a run uses a different image than %s; --dry-run=server fetches the file", p.Spec.Image)
}

// fetched is a file of requirements as it is remembered.
type fetched struct {
	Text []byte    `json:"text"`
	When time.Time `json:"when"`
}

// text fetches a file of requirements for the next plan, or looks what it was when it was fetched last, and says so.
func (o *options) text(ctx context.Context, p submit.Planned, l deps.Line) (about string, err error) {
	memory, key := packaging.Memory(o.machine.CacheDir), fmt.Sprintf("requirements %x", sha256.Sum256([]byte(deps.WithoutUsers(l.Text)))) // a query may be a secret
	var f fetched
	if !o.mode.contacts() {
		if !memory.Load(key, &f) {
			return "", nil
		}
		o.machine.Texts[l.Text] = f.Text
		return fmt.Sprintf("%s: using %s as fetched at %s; a run fetches it again", l.Place(), deps.Hidden(l.Text), f.When.Format(time.DateTime)), nil
	}
	f = fetched{When: o.clock.Now()}
	f.Text, err = o.provider(ctx, p).Resolver.Text(ctx, l.Text)
	switch {
	case ctx.Err() != nil:
		return "", o.providerError(ctx, err)
	case err != nil:
		return "", o.providerError(ctx, fmt.Errorf("%s: %w", l.Place(), err))
	}
	memory.Save(key, f)
	o.machine.Texts[l.Text] = f.Text
	return "", nil
}
