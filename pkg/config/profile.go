package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// Profile is one named cluster.
type Profile struct {
	Name      string `json:"-"`
	Project   string `json:"project"`
	Zone      string `json:"zone"`
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	// Context, of the kubeconfig, is how to reach a cluster outside GKE; "" for one of GKE. Zone and
	// Cluster are then empty, and Project is if it is unknown. Store is the store of jobs there, "" for
	// that of the cluster. keras-kinetic ignores both.
	Context string `json:"context"`
	Store   string `json:"store"`
	Defaults
}

// Defaults are a profile's values for flags that are not given, "" for none. keras-kinetic ignores them.
type Defaults struct {
	ImageRepo      string `json:"image_repo"`
	BaseImage      string `json:"base_image"`
	BaseImageRepo  string `json:"base_image_repo"`
	CPU            string `json:"cpu"`
	Memory         string `json:"memory"`
	PathwaysImages string `json:"pathways_images"`
	KeepWarm       string `json:"keep_warm"`
	CacheSize      string `json:"cache_size"`
	CacheScope     string `json:"cache_scope"` // one of CacheScopes: who shares what compilers made
}

// CacheUser and CacheShared are for Defaults.CacheScope: a cache for each user, the default, or one for all who use the store so.
const (
	CacheUser   = "user"
	CacheShared = "shared"
)

// CacheScopes are the values of Defaults.CacheScope.
func CacheScopes() []string { return []string{CacheUser, CacheShared} }

// Place says for people which cluster a profile is for: "cluster main in us-central1-a of project acme", or
// "context kind-dev".
func (p Profile) Place() string {
	if p.Context != "" {
		return "context " + p.Context
	}
	return fmt.Sprintf("cluster %s in %s of project %s", p.Cluster, p.Zone, p.Project)
}

// Keep returns the profile with what another of the same cluster says about images and requests, and with its store if
// the profile has none.
func (p Profile) Keep(old Profile) Profile {
	p.Defaults = old.Defaults
	p.Store = cmp.Or(p.Store, old.Store)
	return p
}

// ProfileFile is what the profiles file holds.
type ProfileFile struct {
	// Path is where the file is, or would be.
	Path string
	// Current is the profile that is used when none is named; "" if there is none.
	Current string

	profiles map[string]Profile
}

// ReadProfiles reads the user's profiles from the file that KINETIC_PROFILES_FILE names, or from
// .kinetic/profiles.json in the home directory. env reads the environment. If the file
// doesn't exist, there are no profiles.
func ReadProfiles(env func(string) string) (ProfileFile, error) {
	path := pathOf(env)
	if path == "" {
		return ProfileFile{}, nil
	}
	file, _, err := readFile(path)
	return file, err
}

// pathOf returns where the profiles file is, or would be; "" if the environment doesn't say.
func pathOf(env func(string) string) string {
	if path := env("KINETIC_PROFILES_FILE"); path != "" {
		return path
	}
	home := platform.HomeDir(env)
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".kinetic", "profiles.json")
}

// readFile reads a file with profiles and also returns its text, nil if it doesn't exist.
func readFile(path string) (ProfileFile, []byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ProfileFile{Path: path, profiles: map[string]Profile{}}, nil, nil
	}
	if err != nil {
		return ProfileFile{}, nil, fmt.Errorf("reading the profiles: %w: name a file with KINETIC_PROFILES_FILE that can be read", err)
	}
	file, err := parse(data)
	if err != nil {
		return ProfileFile{}, nil, fmt.Errorf("reading the profiles: %s%w: fix the file, or name another with KINETIC_PROFILES_FILE", path, err)
	}
	file.Path = path
	return file, data, nil
}

// Names returns the profiles' names in alphabetical order.
func (f ProfileFile) Names() []string { return slices.Sorted(maps.Keys(f.profiles)) }

// Find returns the profile with a name. Its error lists the existing profiles.
func (f ProfileFile) Find(name string) (Profile, error) {
	if p, found := f.profiles[name]; found {
		return p, nil
	}
	switch hint := human.DidYouMean(name, f.Names()); {
	case hint != "":
		return Profile{}, fmt.Errorf("%s has no profile of that name: %s", f.Path, hint)
	case len(f.profiles) > 0:
		return Profile{}, fmt.Errorf("%s has no profile of that name; it has %s", f.Path, quoted(f.Names()))
	case f.Path == "":
		return Profile{}, errors.New("there are no profiles, because neither KINETIC_PROFILES_FILE nor HOME is set: use --project, --zone and --cluster instead")
	default:
		return Profile{}, fmt.Errorf("there are no profiles in %s: use --project, --zone and --cluster instead", f.Path)
	}
}
