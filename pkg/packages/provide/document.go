package provide

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// document is what the runner reads: the wheels to install, or what pip has to resolve.
type document struct {
	Version      int        `json:"version"`
	Python       string     `json:"python,omitempty"`
	Wheels       []docWheel `json:"wheels,omitempty"`
	Requirements []string   `json:"requirements,omitempty"`
	Constraints  []string   `json:"constraints,omitempty"`
	Options      []string   `json:"options,omitempty"`
	// Complete means that the requirements are all packages: nothing else is installed for them.
	Complete bool `json:"complete,omitempty"`
	// Refresh is the ID of a job that looks for newer versions, "" for others: a warm host remembers what a document
	// was resolved to, and this one is new to it.
	Refresh string `json:"refresh,omitempty"`
}

type docWheel struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	URL    string `json:"url,omitempty"`
}

// listOf returns the document with a list of wheels. urls are those that the pod fetches itself, by
// their SHA-256.
func listOf(python string, wheels []wheel.Source, urls map[string]string) document {
	d := document{Version: api.Contract.Versions.Document, Python: python}
	for _, w := range image.InOrder(wheels) {
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
	return written{string(text), fmt.Sprintf("%x", sha256.Sum256(text))}, nil
}

// wishDocument returns the document of a plan for what installs the packages, and chooses them if
// there are none yet.
func wishDocument(plan decide.Plan, packages []deps.Package) (document, error) {
	d := document{Version: api.Contract.Versions.Document, Complete: plan.Wanted.Kind.IsLock() || len(packages) > 0}
	var err error
	if d.Complete { // the packages are all that is installed
		d.Requirements, err = lockedLines(plan, packages)
	} else {
		d.Requirements, err = wantedLines(plan)
		for _, l := range plan.Wanted.Constraints {
			d.Constraints = append(d.Constraints, deps.WithoutUsers(l.Text))
		}
	}
	if err != nil {
		return d, err
	}
	options := slices.Clone(plan.Wanted.Options)
	if !d.Complete {
		options = append(options, plan.AddedOptions...)
	}
	for _, o := range options {
		name, value, _ := strings.Cut(o, " ")
		switch {
		case isHere(value) && d.Complete:
			continue // what is needed of it is among the requirements
		case isHere(value):
			return d, &resolve.MistakeError{Err: fmt.Errorf("%s %s: the pod can't read this machine's files: install uv or a suitable pip here, or lock the project", name, value)}
		}
		d.Options = append(d.Options, deps.WithoutUsers(o))
	}
	return d, d.checkVariables()
}

// checkVariables returns an error if a line has a variable, other than in credentials, which are not in it.
func (d document) checkVariables() error {
	for _, line := range slices.Concat(d.Requirements, d.Constraints, d.Options) {
		if name := deps.Variable(line); name != "" {
			return &resolve.MistakeError{Err: fmt.Errorf("%q has the variable %s, which only this machine has: write its value, or install uv or a suitable pip, so that this machine resolves",
				deps.Hidden(line), name)}
		}
	}
	return nil
}

// checkGit returns an error if a line needs Git, which the images that we choose don't have.
func (d document) checkGit(plan decide.Plan) error {
	for _, line := range d.Requirements {
		if plan.Base.Known && strings.Contains(line, "git+") && !strings.Contains(line, " ;") { // pip may skip a line with a marker
			return &resolve.MistakeError{Err: fmt.Errorf("%q: the pod can't fetch it, because the image %s has no Git: name one that has it, such as --base-image python:%s-bookworm, or have Cloud Build make the image with --image bundled",
				deps.Hidden(line), plan.Base.Ref, plan.Base.Python)}
		}
	}
	return nil
}

// isHere reports whether an option names something on this machine.
func isHere(value string) bool {
	return filepath.IsAbs(value) || strings.HasPrefix(strings.ToLower(value), "file:")
}

// checkSigned returns an error if a line has a signature: whoever may read the store would see it.
func (d document) checkSigned() error {
	for _, line := range slices.Concat(d.Requirements, d.Constraints, d.Options) {
		if deps.Signed(line) {
			return &resolve.MistakeError{Err: fmt.Errorf("the URL in %q has a secret, which everyone with access to the store would see: download the file into the project, and give its path",
				deps.Hidden(line))}
		}
	}
	return nil
}

func wantedLines(plan decide.Plan) ([]string, error) {
	var lines []string
	hashed := plan.IsLock()
	for _, l := range plan.Wanted.Requirements {
		text := deps.WithoutUsers(l.Text)
		if l.Path != "" {
			var err error
			if text, err = inRoot(plan, l.Path); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", l.Place(), l.Text, err)
			}
			extras, marker := l.BesidePath()
			if text += extras; marker != "" {
				text += " ; " + marker
			}
		}
		if hashed {
			for _, hash := range l.Hashes {
				text += " --hash=" + hash
			}
		}
		lines = append(lines, text)
	}
	return append(lines, plan.Added...), nil
}

// uncompared warns of hashes that whoever resolves in the place of this machine does not compare: pip wants them for all
// requirements or none. With --require-hashes, that is an error. resolver names who resolves.
func uncompared(plan decide.Plan, resolver string) ([]string, error) {
	if at := plan.Wanted.HashesAt; at != "" && !plan.IsLock() {
		return nil, &resolve.MistakeError{Err: fmt.Errorf("%s: --require-hashes needs a --hash on each line of %[3]s, because %[2]s resolves: add them, also to URLs and to lines with conditions, or install uv or a suitable pip here",
			at, resolver, plan.Wanted.Source)}
	}
	hashed := func(l deps.Line) bool { return len(l.Hashes) > 0 && !strings.Contains(l.Text, "#sha") } // which pip compares
	if plan.IsLock() || !slices.ContainsFunc(slices.Concat(plan.Wanted.Requirements, plan.Wanted.Constraints), hashed) {
		return nil, nil
	}
	return []string{fmt.Sprintf("%s does not compare the hashes in %s, because not all requirements have one: install uv or a suitable pip here to have them compared", resolver, plan.Wanted.Source)}, nil
}

// inRoot returns the path of a file as the pod knows it.
func inRoot(plan decide.Plan, path string) (string, error) {
	rel, err := filepath.Rel(plan.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &resolve.MistakeError{Err: fmt.Errorf("the pod has only the files of %s: move it there", plan.Root)}
	}
	return "./" + filepath.ToSlash(rel), nil
}

// lockedLines returns the requirements of packages that are chosen: each is a file or a commit, so
// that no index is asked for it.
func lockedLines(plan decide.Plan, packages []deps.Package) ([]string, error) {
	var lines []string
	for _, p := range packages {
		line := ""
		var err error
		if file := fileOf(plan, p); file != "" {
			line, err = inRoot(plan, file)
		} else if p.Wheel != nil {
			// With --hash, pip would want a hash for every line, and a commit has none.
			line = p.Name + " @ " + deps.WithoutUsers(p.Wheel.URL) + "#sha256=" + p.Wheel.SHA256
		} else {
			line = p.Name + " @ " + deps.WithoutUsers(p.Source)
			if p.SourceSHA256 != "" {
				line += fragment(p.Source) + "sha256=" + p.SourceSHA256
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: package %s: %w", plan.Wanted.Source, p.Name, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// fragment returns what stands before one more member of a URL's fragment.
func fragment(address string) string {
	if strings.Contains(address, "#") {
		return "&"
	}
	return "#"
}

// fileOf returns the path of a package of a lock that is a file of the project, "" for others.
func fileOf(plan decide.Plan, p deps.Package) string {
	switch {
	case p.Wheel != nil:
		return p.Wheel.Path
	case strings.Contains(p.Source, "://"):
		return ""
	}
	if file := filepath.FromSlash(p.Source); filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(plan.Wanted.Dir, filepath.FromSlash(p.Source))
}
