package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// placeOfGcloud returns what gcloud itself would use: its variables, then its
// configuration. It reads gcloud's files, because starting gcloud takes a second.
func placeOfGcloud(env func(string) string) (place, error) {
	name, properties, err := readGcloud(env, gcloudDir(env, runtime.GOOS))
	if err != nil {
		return place{}, fmt.Errorf("reading gcloud's configuration: %w", err)
	}
	property := func(section, key string) setting {
		variable := "CLOUDSDK_" + strings.ToUpper(section+"_"+key)
		return first(setting{env(variable), variable}, setting{properties[section+"/"+key], "gcloud configuration " + name})
	}
	return place{
		project: first(property("core", "project"), setting{env("GOOGLE_CLOUD_PROJECT"), "GOOGLE_CLOUD_PROJECT"}),
		zone:    first(property("compute", "zone"), property("compute", "region")),
		cluster: property("container", "cluster"),
	}, nil
}

// gcloudDir returns the directory of gcloud's configurations; "" if the environment
// doesn't say.
func gcloudDir(env func(string) string, goos string) string {
	if dir := env("CLOUDSDK_CONFIG"); dir != "" {
		return dir
	}
	base, below := platform.HomeDir(env), filepath.Join(".config", "gcloud")
	if goos == "windows" {
		base, below = env("APPDATA"), "gcloud"
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, below)
}

// The name of a configuration becomes part of a file's name.
const configurationPattern = `^[a-z][a-z0-9-]*$`

const (
	defaultConfiguration = "default"
	noConfiguration      = "NONE" // gcloud's word for an empty configuration
)

// readGcloud returns the name of the active configuration and its properties, as
// section/key. Both are empty if gcloud has never written any.
func readGcloud(env func(string) string, dir string) (string, map[string]string, error) {
	if dir == "" {
		return "", nil, nil
	}
	name, err := activeConfiguration(env, dir)
	if err != nil || name.value == noConfiguration {
		return name.value, nil, err
	}
	if !lazyregexp.Of(configurationPattern).MatchString(name.value) {
		return "", nil, fmt.Errorf("%s %q: invalid configuration name; list them with `gcloud config configurations list`", name.from, name.value)
	}
	data, err := os.ReadFile(filepath.Join(dir, "configurations", "config_"+name.value))
	switch {
	case errors.Is(err, fs.ErrNotExist) && name.from == activeVariable:
		return "", nil, fmt.Errorf("%s %s: no such configuration; list them with `gcloud config configurations list`", name.from, name.value)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("%w; or use --project, --zone and --cluster", err)
	}
	return name.value, parseProperties(string(data)), nil
}

const activeVariable = "CLOUDSDK_ACTIVE_CONFIG_NAME"

func activeConfiguration(env func(string) string, dir string) (setting, error) {
	if name := env(activeVariable); name != "" {
		return setting{name, activeVariable}, nil
	}
	path := filepath.Join(dir, "active_config")
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return setting{}, fmt.Errorf("%w; or use --project, --zone and --cluster", err)
	}
	return first(setting{strings.TrimSpace(string(data)), path}, setting{defaultConfiguration, FromDefault}), nil
}

// parseProperties reads an INI file as gcloud writes it: sections in brackets, then key =
// value. It ignores anything else.
func parseProperties(text string) map[string]string {
	properties := map[string]string{}
	section := ""
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimSpace(line)
		if name, found := strings.CutPrefix(line, "["); found {
			section, _, _ = strings.Cut(name, "]")
			continue
		}
		end := strings.IndexAny(line, "=:")
		if end <= 0 || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		key := strings.ToLower(strings.TrimSpace(line[:end]))
		properties[section+"/"+key] = strings.TrimSpace(line[end+1:])
	}
	return properties
}
