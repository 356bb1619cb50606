package config

import (
	"fmt"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// origins are the sources of values. gcloud's are only read if a value is still missing.
type origins struct {
	flags   Flags
	env     func(string) string
	profile Profile // zero: none
	config  clientcmdapi.Config
	need    Need
}

// gather reads what takes precedence over gcloud's configuration, and checks it.
func gather(f Flags, env func(string) string, kube KubeConfig, need Need) (origins, error) {
	config, err := kube.RawConfig()
	if err != nil {
		return origins{}, fmt.Errorf("reading the kubeconfig: %w: fix the file, or name another with --kubeconfig or KUBECONFIG", err)
	}
	o := origins{flags: f, env: env, config: config, need: need}
	if o.profile, err = chooseProfile(f, env, need); err != nil {
		return origins{}, err
	}
	if f.Profile == "" && o.namesAnother() {
		o.profile = projectOf(o.profile)
	}
	return o, checkPlace(o.named())
}

// namesAnother reports whether a flag or a variable names another cluster than that of the profile. It may
// have the same name in another project or zone. In another project, also the cluster without a name is
// another one.
func (o origins) namesAnother() bool {
	given, own := placeGiven(o.flags, o.env), placeOfProfile(o.profile)
	elsewhere := given.project.value != "" && own.project.value != "" && given.project.value != own.project.value
	return elsewhere || given.cluster.value != "" && !given.agrees(own)
}

// projectOf returns what counts of a profile for another cluster than its own: only the project, where
// that one may be, too. Its zone, namespace and store mean nothing there.
func projectOf(p Profile) Profile {
	if p.Context != "" {
		return Profile{}
	}
	return Profile{Name: p.Name, Project: p.Project}
}

// named returns the place that someone has set on purpose.
func (o origins) named() place {
	return placeGiven(o.flags, o.env).over(placeOfProfile(o.profile))
}

// complete adds the values that nobody has set on purpose.
func (o origins) complete(p place) (place, error) {
	if p.whole() {
		return p, nil
	}
	gcloud, err := placeOfGcloud(o.env)
	if err != nil {
		return place{}, err
	}
	p = p.over(gcloud).over(defaultPlace())
	return p, checkPlace(p)
}

// chooseProfile returns the profile of this call. It reads the profiles file only if a
// value could come from it. With --context, which already names the cluster, only
// --profile chooses a profile.
func chooseProfile(f Flags, env func(string) string, need Need) (Profile, error) {
	allGiven := placeGiven(f, env).whole() && namespaceGiven(f, env).value != ""
	if f.Profile == "" && (f.Context != "" || allGiven || need.NewProfile) {
		return Profile{}, nil
	}
	file, err := ReadProfiles(env)
	if err != nil {
		return Profile{}, err
	}
	p, _, err := ChosenProfile(file, f, env)
	return p, err
}

// ChosenProfile returns the profile that a call takes from a file, and what chose it: a flag, a
// variable, or the path of the file whose current profile it is. Both are empty if there is none.
func ChosenProfile(file ProfileFile, f Flags, env func(string) string) (p Profile, from string, err error) {
	name := first(setting{f.Profile, "--profile"}, setting{env("KINETIC_PROFILE"), "KINETIC_PROFILE"}, setting{file.Current, file.Path})
	if name.value == "" {
		return Profile{}, "", nil
	}
	p, err = file.Find(name.value)
	if err != nil {
		return Profile{}, "", fmt.Errorf("%s %s: %w", name.from, name.value, err)
	}
	return p, name.from, nil
}

// profileIsAbout reports whether the profile is that of a cluster, so that all of it counts.
func (o origins) profileIsAbout(where place, context setting) bool {
	if o.profile.Context != "" {
		return o.profile.Context == context.value
	}
	return placeOfProfile(o.profile).is(where)
}

func fromProfile(p Profile) string { return "profile " + p.Name }
