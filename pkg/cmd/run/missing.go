package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// noteMissing says how a job that has failed gets a module or a file that it did not find.
func (o *options) noteMissing(j *job.Job, warnings *report.WarningLog) {
	o.noteUninstalled(j, warnings)
	if o.planned.Files == nil {
		return
	}
	cwd, err := os.Getwd()
	if err != nil {
		return
	}
	packaged := func(rel string) bool {
		return slices.ContainsFunc(o.planned.Files.Index.Files, func(f api.IndexFile) bool { return f.Path == rel })
	}
	if note := missingFile(warnings.MissingFile(), cwd, o.planned.Root, packaged); note != "" {
		o.ui.Note(note)
	}
}

// missingFile says how a job gets a file that is on this machine, "" if it isn't, or if there is no file to look for.
// cwd is where the command was typed, and root the package root.
// packaged reports whether a path relative to the root is in the package.
func missingFile(file, cwd, root string, packaged func(rel string) bool) string {
	if file == "" || strings.Contains(file, "://") {
		return ""
	}
	here := file
	if !filepath.IsAbs(file) {
		here = filepath.Join(cwd, file)
	}
	rel, err := filepath.Rel(root, here)
	below := err == nil && filepath.IsLocal(rel)
	switch _, err := os.Stat(here); {
	case err == nil && below && !filepath.IsAbs(file) && packaged(filepath.ToSlash(rel)):
		return "" // the program looked for it elsewhere
	case err == nil && below && !filepath.IsAbs(file):
		return fmt.Sprintf("%s is on this machine, but was left out of the package by .kineticignore or a default rule", file)
	case err == nil && below:
		return fmt.Sprintf("%s is a path of this machine: the job has the project's files where it starts, so use a relative path", file)
	case err == nil:
		return fmt.Sprintf("%s is on this machine, and only %s is packaged: pass it with --data NAME=%s, and open the path in KINETIC_DATA_NAME", file, root, file)
	case filepath.IsAbs(file):
		return ""
	}
	if _, err := os.Stat(filepath.Join(root, file)); err == nil && cwd != root {
		return fmt.Sprintf("%s is in %s, and the job started in %s as you did: run it from there, or build the path from __file__", file, root, filepath.Base(cwd))
	}
	return ""
}
