package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/environment"
	"github.com/kubectl-kinetic/kinetic/pkg/image"
	"github.com/kubectl-kinetic/kinetic/pkg/lock"
)

// document is what the runner reads: the wheels to install, or what pip has to resolve.
type document struct {
	Version      int        `json:"version"`
	Python       string     `json:"python,omitempty"`
	Wheels       []docWheel `json:"wheels,omitempty"`
	Requirements []string   `json:"requirements,omitempty"`
	Constraints  []string   `json:"constraints,omitempty"`
	Options      []string   `json:"options,omitempty"`
}

type docWheel struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	URL    string `json:"url,omitempty"`
}

// documentVersion is the version of document.
const documentVersion = 1

// listOf returns the document with a list of wheels. urls are those that the pod fetches itself, by
// their SHA-256.
func listOf(python string, wheels []image.Wheel, urls map[string]string) document {
	d := document{Version: documentVersion, Python: python}
	for _, w := range wheels {
		d.Wheels = append(d.Wheels, docWheel{File: w.File, SHA256: w.SHA256, Size: w.Size, URL: urls[w.SHA256]})
	}
	return d
}

// written is the text of a document, and its name.
type written struct{ content, sha256 string }

func (d document) text() (written, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return written{}, err
	}
	text = append(text, '\n')
	sum := sha256.Sum256(text)
	return written{string(text), hex.EncodeToString(sum[:])}, nil
}

// wishDocument returns the document of a plan whose packages are not all wheels. packages are those
// of a lock.
func wishDocument(plan environment.Plan, packages []lock.Package) (document, error) {
	w := plan.Wanted
	d := document{Version: documentVersion}
	wanted := w.Requirements
	if w.Kind.IsLock() && len(packages) > 0 { // the requirements are the project's, without versions
		wanted = nil
		for _, p := range packages {
			d.Requirements = append(d.Requirements, exactly(p))
		}
	}
	hashed := plan.IsLock()
	for _, l := range wanted {
		text := deps.WithoutUsers(l.Text)
		if l.Path != "" {
			rel, err := filepath.Rel(plan.Root, l.Path)
			if err != nil || !filepath.IsLocal(rel) {
				return d, fmt.Errorf("%s: %q: the pod has only the files of %s: move it there", l.Place(), l.Text, plan.Root)
			}
			text = "./" + filepath.ToSlash(rel)
		}
		if hashed {
			for _, hash := range l.Hashes {
				text += " --hash=" + hash
			}
		}
		d.Requirements = append(d.Requirements, text)
	}
	d.Requirements = append(d.Requirements, plan.Added...)
	for _, l := range w.Constraints {
		d.Constraints = append(d.Constraints, deps.WithoutUsers(l.Text))
	}
	for _, o := range append(append([]string{}, w.Options...), plan.AddedOptions...) {
		name, value, _ := strings.Cut(o, " ")
		if filepath.IsAbs(value) {
			return d, fmt.Errorf("%s %s: the pod can't read this machine's files: install uv or a fitting pip here, or lock the project", name, value)
		}
		d.Options = append(d.Options, deps.WithoutUsers(o))
	}
	return d, nil
}

// exactly returns the requirement of a package that a lock names.
func exactly(p lock.Package) string {
	switch {
	case p.Wheel == nil && p.Source != "":
		return p.Name + " @ " + deps.WithoutUsers(p.Source)
	case p.Version == "" && p.Wheel != nil:
		return p.Name + " @ " + deps.WithoutUsers(p.Wheel.URL)
	default:
		return p.Name + "==" + p.Version
	}
}
