package config

import (
	"cmp"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// setting is a value and where it comes from. Both are "" if there is none.
type setting struct{ Value, From string }

// MarshalJSON writes null for what there isn't.
func (s setting) MarshalJSON() ([]byte, error) {
	var parts struct {
		Value *string `json:"value"`
		From  *string `json:"from"`
	}
	if s.Value != "" {
		parts.Value = &s.Value
	}
	if s.From != "" {
		parts.From = &s.From
	}
	return json.Marshal(parts)
}

// settings are what is in force, as programs read it.
type settings struct {
	Profile          setting `json:"profile"`
	Project          setting `json:"project"`
	Zone             setting `json:"zone"`
	Cluster          setting `json:"cluster"`
	Context          setting `json:"context"`
	Namespace        setting `json:"namespace"`
	Store            setting `json:"store"`
	StoreCredentials setting `json:"storeCredentials"`
	LocalStore       setting `json:"localStore"`
	OutputDir        setting `json:"outputDir"`
	Image            setting `json:"image"`
	ImageRepo        setting `json:"imageRepo"`
	BaseImage        setting `json:"baseImage"`
	BaseImageRepo    setting `json:"baseImageRepo"`
	CPU              setting `json:"cpu"`
	Memory           setting `json:"memory"`
	PathwaysImages   setting `json:"pathwaysImages"`
	KeepWarm         setting `json:"keepWarm"`
	CacheSize        setting `json:"cacheSize"`
	CacheScope       setting `json:"cacheScope"`
	PackageRoot      setting `json:"packageRoot"`
	ProfilesFile     setting `json:"profilesFile"`
	Prices           setting `json:"prices"`
	// Warnings say what stops a job that needs no more flags, and how to fix it.
	Warnings []string `json:"warnings"`
}

type row struct {
	name string
	setting
}

// rows lists the settings in the order of the table.
func (s settings) rows() []row {
	return []row{
		{"profile", s.Profile}, {"project", s.Project}, {"zone", s.Zone}, {"cluster", s.Cluster},
		{"context", s.Context}, {"namespace", s.Namespace}, {"store", s.Store}, {"store credentials", s.StoreCredentials},
		{"local store", s.LocalStore}, {"output dir", s.OutputDir}, {"image", s.Image}, {"image repo", s.ImageRepo},
		{"base image", s.BaseImage}, {"base image repo", s.BaseImageRepo}, {"cpu", s.CPU}, {"memory", s.Memory},
		{"pathways images", s.PathwaysImages}, {"keep warm", s.KeepWarm}, {"cache size", s.CacheSize}, {"cache scope", s.CacheScope}, {"package root", s.PackageRoot},
		{"profiles file", s.ProfilesFile}, {"prices", s.Prices},
	}
}

// read finds the settings. Its errors are about what the user has set.
func read(connection *connect.Flags, env func(string) string) (settings, error) {
	where, err := connection.ResolveStored()
	if err != nil {
		return settings{}, err
	}
	where = where.Known()
	from := where.From
	all := settings{
		Project:          setting{where.Project, from.Project},
		Zone:             setting{where.Zone, from.Zone},
		Cluster:          setting{where.Cluster, from.Cluster},
		Context:          setting{where.Context, from.Context},
		Namespace:        setting{where.Namespace, from.Namespace},
		Store:            setting{where.Store, from.Store},
		StoreCredentials: variable(env, "KINETIC_STORE_CREDENTIALS"),
		PackageRoot:      variable(env, "KINETIC_PACKAGE_ROOT"),
		Prices:           cmp.Or(variable(env, price.Variable), setting{"built-in", config.FromDefault}),
		Warnings:         []string{},
	}
	if where.Store != "" {
		all.OutputDir = setting{where.Store + "/JOB/outputs", config.FromDefault}
	}
	if local, err := connection.Resolve(true); err == nil {
		all.LocalStore = setting{local.Store, local.From.Store}
	}
	if err := all.readProfile(connection, env); err != nil {
		return settings{}, err
	}
	if _, err := price.Read(env); err != nil {
		all.Warnings = append(all.Warnings, err.Error())
	}
	all.readImages(where, env)
	all.CPU = cmp.Or(variable(env, "KINETIC_CPU"), all.ofProfile(where.CPU))
	all.Memory = cmp.Or(variable(env, "KINETIC_MEMORY"), all.ofProfile(where.Memory))
	all.PathwaysImages = cmp.Or(variable(env, "KINETIC_PATHWAYS_IMAGES"), all.ofProfile(where.PathwaysImages))
	all.KeepWarm = cmp.Or(variable(env, "KINETIC_KEEP_WARM"), all.ofProfile(where.KeepWarm))
	all.CacheSize = cmp.Or(variable(env, api.EnvCacheSize), all.ofProfile(where.CacheSize), setting{resource.NewQuantity(api.Contract.Defaults.CacheSize, resource.BinarySI).String(), config.FromDefault})
	all.CacheScope = cmp.Or(all.ofProfile(where.CacheScope), setting{config.CacheUser, config.FromDefault})
	all.warn(connection, where)
	return all, nil
}

func variable(env func(string) string, name string) setting {
	if value := env(name); value != "" {
		return setting{value, name}
	}
	return setting{}
}

func (s *settings) readProfile(connection *connect.Flags, env func(string) string) error {
	file, err := config.ReadProfiles(env)
	if err != nil {
		return err
	}
	s.ProfilesFile = setting{file.Path, config.FromDefault}
	if env("KINETIC_PROFILES_FILE") != "" {
		s.ProfilesFile.From = "KINETIC_PROFILES_FILE"
	}
	p, from, err := connection.Profile(file)
	s.Profile = setting{p.Name, from}
	return err
}

func (s *settings) ofProfile(value string) setting {
	if value == "" {
		return setting{}
	}
	return setting{value, "profile " + s.Profile.Value}
}

// readImages finds the settings of images, as `run` does without flags.
func (s *settings) readImages(where config.Target, env func(string) string) {
	s.Image = cmp.Or(variable(env, "KINETIC_IMAGE"), setting{"bundled", config.FromDefault})
	s.ImageRepo = cmp.Or(variable(env, "KINETIC_IMAGE_REPO"), s.ofProfile(where.ImageRepo))
	if repository := config.Repository(where.Project, where.Zone, where.Cluster); s.ImageRepo.Value == "" && repository != "" {
		s.ImageRepo = setting{repository, config.FromDefault}
	}
	image, repository := variable(env, "KINETIC_BASE_IMAGE"), variable(env, "KINETIC_BASE_IMAGE_REPO")
	switch {
	case image.Value != "":
		s.BaseImage = image
	case repository.Value != "":
		s.BaseImageRepo = repository
	default:
		s.BaseImage, s.BaseImageRepo = s.ofProfile(where.BaseImage), s.ofProfile(where.BaseImageRepo)
	}
	if s.BaseImage.Value == "" && s.BaseImageRepo.Value == "" {
		s.BaseImage = setting{"python:X.Y-slim-bookworm", config.FromDefault}
	}
}

// warn finds what a job in the cluster would lack.
func (s *settings) warn(connection *connect.Flags, where config.Target) {
	if _, err := connection.ResolveJobs(); err != nil {
		s.Warnings = append(s.Warnings, err.Error())
	}
	if _, err := connection.Resolve(false); where.Store == "" && errors.Is(err, config.ErrNoStore) {
		s.Warnings = append(s.Warnings, err.Error())
	}
}
