package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// platformTags are the wheel tags of the platforms of a release. The binaries for Linux are
// static, so they run with every C library. macOS 12 is the oldest that Go makes programs for.
var platformTags = map[string]string{
	"linux_amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux_arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin_amd64":  "macosx_12_0_x86_64",
	"darwin_arm64":  "macosx_12_0_arm64",
	"windows_amd64": "win_amd64",
	"windows_arm64": "win_arm64",
}

// pythonProject is the part of pyproject.toml that a wheel's metadata are made of.
type pythonProject struct {
	Project struct {
		Name           string
		Description    string
		RequiresPython string `toml:"requires-python"`
		Dependencies   []string
		License        struct{ Text string }
		Scripts        map[string]string
		URLs           map[string]string
	}
}

// writeWheels makes a wheel from each archive in dist: the Python package below project,
// and the archive's programs in its folder bin, where the package looks for them.
func writeWheels(project, dist string) error {
	release, err := readTag(dist)
	if err != nil {
		return err
	}
	version, err := pythonVersion(strings.TrimPrefix(release.TagName, "v"))
	if err != nil {
		return err
	}
	sources, err := readPackage(project, version)
	if err != nil {
		return fmt.Errorf("reading the Python package: %w", err)
	}
	var about pythonProject
	text, err := os.ReadFile(filepath.Join(project, "pyproject.toml"))
	if err == nil {
		err = toml.Unmarshal(text, &about)
	}
	if err != nil {
		return fmt.Errorf("reading pyproject.toml: %w", err)
	}
	found := false
	for platform, tag := range platformTags {
		for _, read := range []struct {
			suffix string
			files  func(string) ([]file, error)
		}{{".tar.gz", filesInTar}, {".zip", filesInZip}} {
			archive := filepath.Join(dist, fmt.Sprintf("kinetic_%s_%s%s", release.TagName[1:], platform, read.suffix))
			programs, err := read.files(archive)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a snapshot may have been made for one platform
			}
			if err != nil {
				return fmt.Errorf("reading %s: %w", archive, err)
			}
			found = true
			w := wheel{about: about, version: version, tag: "py3-none-" + tag}
			if err := w.write(dist, sources, programs); err != nil {
				return fmt.Errorf("writing the wheel for %s: %w", platform, err)
			}
		}
	}
	if !found {
		return errors.New("there is no archive to make a wheel from")
	}
	return nil
}

// file is a file of an archive, or of the wheel.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// semantic has the parts of a version of goreleaser: 0.1.0, 0.1.0-rc.1, 0.0.1-snapshot-abc.
var semantic = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-(?:(alpha|beta|rc)\.?(\d+)|snapshot-([0-9a-f]+)(-dirty)?))?$`)

// pythonVersion returns a version as PEP 440 spells it.
func pythonVersion(version string) (string, error) {
	parts := semantic.FindStringSubmatch(version)
	switch {
	case parts == nil:
		return "", fmt.Errorf("version %q has no form that Python knows", version)
	case parts[2] != "":
		return parts[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[parts[2]] + parts[3], nil
	case parts[4] != "":
		return parts[1] + ".dev0+" + parts[4] + strings.Replace(parts[5], "-", ".", 1), nil
	default:
		return parts[1], nil
	}
}

// versionLine is the line of the package's __init__.py with its version.
var versionLine = regexp.MustCompile(`(?m)^__version__ = ".*"$`)

// readPackage returns the files of the Python package, with the release's version.
func readPackage(project, version string) ([]file, error) {
	var files []file
	root := os.DirFS(project)
	err := fs.WalkDir(root, "kinetic", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".py" && path.Base(name) != "py.typed" {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if name == "kinetic/__init__.py" {
			if len(versionLine.FindAll(data, -1)) != 1 {
				return fmt.Errorf("%s: expected one line with the version", name)
			}
			data = versionLine.ReplaceAll(data, fmt.Appendf(nil, "__version__ = %q", version))
		}
		files = append(files, file{name, 0o644, data})
		return err
	})
	return files, err
}

func filesInTar(archive string) ([]file, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var all []file
	for entries := tar.NewReader(zipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(entries)
		if err != nil {
			return nil, err
		}
		all = append(all, file{entry.Name, entry.FileInfo().Mode().Perm(), data})
	}
}

func filesInZip(archive string) ([]file, error) {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []file
	for _, entry := range r.File {
		data, err := fs.ReadFile(r, entry.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, file{entry.Name, entry.Mode().Perm(), data})
	}
	return all, nil
}

// wheel is one wheel: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
type wheel struct {
	about        pythonProject
	version, tag string
}

// folder returns the name of the folder with the metadata, which also begins the wheel's name.
func (w wheel) folder() string {
	return strings.ReplaceAll(w.about.Project.Name, "-", "_") + "-" + w.version
}

// write writes the wheel into dist. The same input gives the same bytes.
func (w wheel) write(dist string, sources, programs []file) error {
	info := w.folder() + ".dist-info/"
	files := slices.Clone(sources)
	licenses := 0
	for _, p := range programs {
		if path.Base(p.name) == "LICENSE" || path.Base(p.name) == "THIRD_PARTY_LICENSES" {
			licenses++
			files = append(files, file{info + "licenses/" + p.name, 0o644, p.data})
			continue
		}
		files = append(files, file{"kinetic/bin/" + p.name, 0o755, p.data})
	}
	if licenses != 2 {
		return fmt.Errorf("the archive has %d of the two files with licenses", licenses)
	}
	files = append(files,
		file{info + "METADATA", 0o644, w.metadata()},
		file{info + "WHEEL", 0o644, w.tags()},
		file{info + "entry_points.txt", 0o644, w.entryPoints()},
	)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	files = append(files, file{info + "RECORD", 0o644, record(files, info)})

	var out bytes.Buffer
	zipped := zip.NewWriter(&out)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(f.mode)
		entry, err := zipped.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(f.data)
		}
		if err != nil {
			return err
		}
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dist, w.folder()+"-"+w.tag+".whl"), out.Bytes(), 0o644)
}

func (w wheel) metadata() []byte {
	p := w.about.Project
	var b bytes.Buffer
	fmt.Fprintf(&b, "Metadata-Version: 2.4\nName: %s\nVersion: %s\nSummary: %s\nLicense-Expression: %s\n", p.Name, w.version, p.Description, p.License.Text)
	fmt.Fprintf(&b, "License-File: LICENSE\nLicense-File: THIRD_PARTY_LICENSES\nRequires-Python: %s\n", p.RequiresPython)
	for _, d := range p.Dependencies {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", d)
	}
	for _, name := range sortedNames(p.URLs) {
		fmt.Fprintf(&b, "Project-URL: %s, %s\n", name, p.URLs[name])
	}
	return b.Bytes()
}

// tags lists every combination of the wheel's compressed tags.
func (w wheel) tags() []byte {
	var b bytes.Buffer
	b.WriteString("Wheel-Version: 1.0\nGenerator: kinetic\nRoot-Is-Purelib: false\n")
	for platform := range strings.SplitSeq(strings.TrimPrefix(w.tag, "py3-none-"), ".") {
		fmt.Fprintf(&b, "Tag: py3-none-%s\n", platform)
	}
	return b.Bytes()
}

func (w wheel) entryPoints() []byte {
	var b bytes.Buffer
	b.WriteString("[console_scripts]\n")
	for _, name := range sortedNames(w.about.Project.Scripts) {
		fmt.Fprintf(&b, "%s = %s\n", name, w.about.Project.Scripts[name])
	}
	return b.Bytes()
}

// record lists the hash and size of every file, as installers check them.
func record(files []file, info string) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&b, "%sRECORD,,\n", info)
	return b.Bytes()
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
