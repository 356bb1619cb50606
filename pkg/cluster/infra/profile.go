package infra

import (
	"context"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// Profile is the profile of the cluster. It becomes the current one when it is written.
type Profile struct {
	Env    func(string) string
	Wanted config.Profile
}

// Taken returns the profile of that name if it is for another cluster.
func (p Profile) Taken() (other config.Profile, taken bool, err error) {
	found, exists, err := p.find()
	if err != nil || !exists || p.isFor(found) {
		return config.Profile{}, false, err
	}
	return found, true, nil
}

// Same reports whether there is a profile of that name, for the same cluster.
func (p Profile) Same() bool {
	found, exists, err := p.find()
	return err == nil && exists && p.isFor(found)
}

func (p Profile) isFor(found config.Profile) bool {
	w := p.Wanted
	return found.Context == w.Context && found.Project == w.Project && found.Zone == w.Zone && found.Cluster == w.Cluster
}

// find returns the profile of that name, if there is one.
func (p Profile) find() (config.Profile, bool, error) {
	file, err := config.ReadProfiles(p.Env)
	if err != nil {
		return config.Profile{}, false, err
	}
	found, err := file.Find(p.Wanted.Name)
	return found, err == nil, nil
}

// Get implements infra.Actor.
func (p Profile) Get(context.Context) (State, error) {
	found, exists, err := p.find()
	if err != nil || !exists {
		return State{}, err
	}
	s := State{Exists: true}
	if !p.isFor(found) {
		s.Kept = "it is of " + found.Place()
		s.Differences = append(s.Differences, Difference{Setting: "place", Have: found.Place(), Want: p.Wanted.Place(), Fixed: true})
	} else if found.Namespace != p.Wanted.Namespace {
		s.Differences = append(s.Differences, Difference{Setting: "namespace", Have: found.Namespace, Want: p.Wanted.Namespace})
	}
	return s, nil
}

// Ensure implements infra.Actor. It keeps what a profile says about images and its store, and refuses to
// replace one of another cluster.
func (p Profile) Ensure(ctx context.Context, _ State) error {
	err := config.ChangeProfiles(ctx, p.Env, func(d *config.ProfileDraft) error {
		wanted := p.Wanted
		if found, err := d.Find(wanted.Name); err == nil {
			if !p.isFor(found) {
				return fmt.Errorf("it is for %s: choose another name with --profile-name", found.Place())
			}
			wanted = wanted.Keep(found)
		}
		if err := d.Put(wanted); err != nil {
			return err
		}
		return d.Use(wanted.Name)
	})
	return p.explain("writing", err)
}

// Delete implements infra.Actor. A profile of that name for another cluster stays.
func (p Profile) Delete(ctx context.Context) error {
	found, exists, err := p.find()
	if err != nil || !exists || !p.isFor(found) {
		return err
	}
	return p.explain("removing", config.ChangeProfiles(ctx, p.Env, func(d *config.ProfileDraft) error { return d.Remove(p.Wanted.Name) }))
}

func (p Profile) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the profile %s: %w", doing, p.Wanted.Name, err)
}
