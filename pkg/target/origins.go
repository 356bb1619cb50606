package target

import (
	"fmt"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-kinetic/kinetic/pkg/profile"
)

// origins are the sources of values. gcloud's are only read if a value is still missing.
type origins struct {
	flags   Flags
	env     func(string) string
	profile profile.Profile // zero: none
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
	if o.profile, err = chooseProfile(f, env); err != nil {
		return origins{}, err
	}
	return o, checkPlace(o.named())
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
func chooseProfile(f Flags, env func(string) string) (profile.Profile, error) {
	allGiven := placeGiven(f, env).whole() && namespaceGiven(f, env).value != ""
	if f.Profile == "" && (f.Context != "" || allGiven) {
		return profile.Profile{}, nil
	}
	file, err := profile.Read(env)
	if err != nil {
		return profile.Profile{}, err
	}
	name := first(setting{f.Profile, "--profile"}, setting{env("KINETIC_PROFILE"), "KINETIC_PROFILE"}, setting{file.Current, file.Path})
	if name.value == "" {
		return profile.Profile{}, nil
	}
	p, err := file.Find(name.value)
	if err != nil {
		return profile.Profile{}, fmt.Errorf("%s %s: %w", name.from, name.value, err)
	}
	return p, nil
}

func fromProfile(p profile.Profile) string { return "profile " + p.Name }
