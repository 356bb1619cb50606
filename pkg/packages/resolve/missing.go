package resolve

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Explain returns the newest version of a project that a requirement allows, with the reason why
// none of its wheels fits a target. Why is nil if one does, or if no source has such a version. The
// error says which indexes can't be asked. The client is as for Files.
func Explain(ctx context.Context, client *http.Client, s Sources, r requirement.Requirement, target wheel.Target) (p deps.Package, err error) {
	var files []IndexFile
	var failures []error
	for _, base := range s.Bases() {
		found, err := Files(ctx, client, base, r.Name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			failures = append(failures, err)
		}
		files = append(files, found...)
	}
	for _, dir := range s.Dirs() {
		files = append(files, InDir(dir, r.Name)...)
	}
	newest, version := newestOf(files, r)
	if version == "" {
		return p, errors.Join(failures...)
	}
	p = deps.Package{Name: requirement.Normalize(r.Name), Version: version}
	var wheels []wheel.Name
	for _, f := range newest {
		if n, err := wheel.ParseName(f.Name); err == nil {
			wheels = append(wheels, n)
		} else {
			p.Source = f.URL
		}
	}
	_, err = p.Fit(wheels, target)
	return p, err
}

// newestOf returns the files of the newest version that a requirement allows, other than prereleases.
func newestOf(files []IndexFile, r requirement.Requirement) (of []IndexFile, text string) {
	var newest requirement.Version
	for _, f := range files {
		version := sourceVersion(f.Name, r.Name)
		if strings.HasSuffix(f.Name, ".whl") {
			if n, err := wheel.ParseName(f.Name); err == nil {
				version = n.Version
			}
		}
		v, err := requirement.ParseVersion(version)
		if err != nil || !r.Specifiers.Contain(v) || f.Yanked || v.IsPrerelease() {
			continue
		}
		order := v.Compare(newest)
		if text != "" && order < 0 {
			continue
		}
		if text == "" || order > 0 {
			newest, text, of = v, version, nil
		}
		of = append(of, f)
	}
	return of, text
}
