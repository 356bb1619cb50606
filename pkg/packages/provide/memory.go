package provide

import (
	"os"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// unwritableFor is how long a registry that refused images is left alone.
const unwritableFor = 7 * 24 * time.Hour

// refusal is what is remembered of a registry that refused images.
type refusal struct {
	Why  string    `json:"why"`
	When time.Time `json:"when"`
}

func refusedKey(repository string) string { return "refused " + repository }

// Unwritable returns why images can't be sent to a repository, "" if they can as far as is
// remembered.
func Unwritable(m image.Memory, repository string, now time.Time) string {
	var r refusal
	if !m.Load(refusedKey(repository), &r) || now.Sub(r.When) > unwritableFor || now.Before(r.When) {
		return ""
	}
	return r.Why
}

// Lost remembers that a node did not get all of an image: what the registry says of it is not true,
// so the next job makes what is missing.
func Lost(m image.Memory, ref string) { m.Save(lostKey(ref), true) }

// lost reports whether the image of a plan has to be made although its tag may be there.
func (p *Provider) lost(plan decide.Plan) bool {
	missed := false
	return p.Images.Memory.Load(lostKey(plan.Image), &missed) && missed
}

func lostKey(ref string) string { return "lost " + ref }

// pins is what is remembered of a wish that was resolved.
type pins struct {
	Python string         `json:"python"`
	By     string         `json:"by"`
	When   time.Time      `json:"when"`
	Wheels []wheel.Source `json:"wheels"`
	// Stored means that only the store is known to have the wheels.
	Stored bool `json:"stored"`
}

// there reports whether the wheels that are files of this machine still are: a project may have moved.
func (f pins) there() bool {
	return !slices.ContainsFunc(f.Wheels, func(w wheel.Source) bool {
		if w.Path == "" {
			return false
		}
		_, err := os.Stat(w.Path)
		return err != nil
	})
}

// old is the age of pins about which the user is told.
const old = 30 * 24 * time.Hour

func pinsKey(plan decide.Plan, store string) string { return "pins " + plan.Key + " " + store }

// resolvingKey is for the ID of the last job whose pod resolves a wish.
func resolvingKey(plan decide.Plan, store string) string {
	return "resolving " + plan.Key + " " + store
}

// age returns for how long this machine has known an image that is there, or since it last looked for newer packages. Others may have made it earlier.
func (p *Provider) age(digest string) time.Duration {
	first, key := p.Now(), seenKey(digest)
	if !p.Images.Memory.Load(key, &first) && !p.DryRun {
		p.Images.Memory.Save(key, first)
	}
	return p.Now().Sub(first)
}

// refreshed remembers that newer packages were looked for: images count as new, also if they are the same as before.
func (p *Provider) refreshed(digests []string) {
	for _, digest := range digests {
		p.Images.Memory.Save(seenKey(digest), p.Now())
	}
}

func seenKey(digest string) string { return "seen " + digest }

// pinned returns what a wish was resolved to, if it can still be had.
func (p *Provider) pinned(plan decide.Plan) (pins, bool) {
	var found pins
	if plan.Settings.RefreshDeps {
		return found, false
	}
	if p.Images.Memory.Load(pinsKey(plan, ""), &found) && found.there() {
		return found, true
	}
	found = pins{}
	ok := p.Images.Memory.Load(pinsKey(plan, p.StoreURL), &found)
	return found, ok
}
