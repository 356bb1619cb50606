package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"text/template"

	"sigs.k8s.io/yaml"
)

// tag is what krew-release-bot's templates know of a release.
type tag struct{ TagName string }

// fill fills in a template of krew-release-bot with the version and the archives in dist.
// Platforms without an archive are left out: a snapshot may have been made for one.
func fill(text, dist string) ([]byte, error) {
	release, err := readTag(dist)
	if err != nil {
		return nil, err
	}
	partial := false
	add := func(url, _ string) (string, error) {
		uri, err := execute(url, release, nil)
		if err != nil {
			return "", err
		}
		sum, err := checksum(filepath.Join(dist, path.Base(uri.String())))
		if errors.Is(err, fs.ErrNotExist) {
			partial, err = true, nil
		}
		return fmt.Sprintf("uri: %s\n    sha256: %s", uri, sum), err // the bot's indentation
	}
	manifest, err := execute(text, release, template.FuncMap{"addURIAndSha": add})
	if err != nil || !partial {
		return manifest.Bytes(), err
	}
	return dropMissing(manifest.Bytes())
}

// readTag returns the tag that dist would be the release of.
func readTag(dist string) (tag, error) {
	var metadata struct{ Version string }
	data, err := os.ReadFile(filepath.Join(dist, "metadata.json"))
	if err != nil {
		return tag{}, err
	}
	if err := json.Unmarshal(data, &metadata); err != nil {
		return tag{}, fmt.Errorf("reading goreleaser's metadata: %w", err)
	}
	if metadata.Version == "" {
		return tag{}, errors.New("goreleaser's metadata have no version")
	}
	return tag{"v" + metadata.Version}, nil
}

func execute(text string, release tag, functions template.FuncMap) (*bytes.Buffer, error) {
	var out bytes.Buffer
	t, err := template.New("manifest").Funcs(functions).Parse(text)
	if err == nil {
		err = t.Execute(&out, release)
	}
	return &out, err
}

// checksum returns the SHA-256 of a file in lower-case hexadecimal digits.
func checksum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// dropMissing removes the platforms without a checksum.
func dropMissing(manifest []byte) ([]byte, error) {
	var plugin map[string]any
	if err := yaml.Unmarshal(manifest, &plugin); err != nil {
		return nil, err
	}
	spec, _ := plugin["spec"].(map[string]any)
	all, _ := spec["platforms"].([]any)
	var there []any
	for _, platform := range all {
		if fields, _ := platform.(map[string]any); fields["sha256"] != nil {
			there = append(there, platform)
		}
	}
	if there == nil {
		return nil, errors.New("there is no archive of any platform")
	}
	spec["platforms"] = there
	return yaml.Marshal(plugin)
}
