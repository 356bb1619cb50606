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

// noteMissing prints how to provide a module or a file that a failed job did not find.
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
	if note := missingFile(warnings.MissingFile(), cwd, o.planned.Root, packaged, j.Handle.CallKind == api.CallPickle); note != "" {
		o.ui.Note(note)
	}
}

// missingFile returns how to provide a file of this machine to the job, or "" if the file is not here.
// cwd is where the command was typed, and root the package root.
// packaged reports whether a path relative to the root is in the package, and pickled that a
// program in Python called the function: it has no flags.
func missingFile(file, cwd, root string, packaged func(rel string) bool, pickled bool) string {
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
		return fmt.Sprintf("%s is a path on this machine: use a relative path, which the job finds in its copy of the project", file)
	case err == nil:
		how := fmt.Sprintf("pass it with --data NAME=%s, and open the path in KINETIC_DATA_NAME", file)
		if pickled {
			how = fmt.Sprintf("pass kinetic.Data(%q) as an argument, and open the path that the function gets", file)
		}
		return fmt.Sprintf("%s is on this machine, and only %s is packaged: %s", file, root, how)
	case filepath.IsAbs(file):
		return ""
	}
	if _, err := os.Stat(filepath.Join(root, file)); err == nil && cwd != root {
		return fmt.Sprintf("%s is in %s, but the job started in %s, like the command: run the command from there, or build the path from __file__", file, root, filepath.Base(cwd))
	}
	return ""
}
