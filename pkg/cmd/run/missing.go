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
	if o.planned.Files == nil {
		return
	}
	if module := warnings.MissingModule(); module != "" {
		if note := uninstalled(o.planned, module, j.Handle); note != "" {
			o.ui.Note(note)
		}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return
	}
	packaged := func(rel string) bool {
		return slices.ContainsFunc(o.planned.Files.Index.Files, func(f api.IndexFile) bool { return f.Path == rel })
	}
	passed := func(path string) bool {
		return slices.ContainsFunc(o.planned.Data.Paths, func(source string) bool {
			rel, err := filepath.Rel(source, path)
			return err == nil && filepath.IsLocal(rel)
		})
	}
	p := project{cwd, o.planned.Root, packaged, passed, j.Handle.CallKind == api.CallPickle}
	if note := p.missingFile(warnings.MissingFile()); note != "" {
		o.ui.Note(note)
	}
}

type project struct {
	// cwd is where the command was typed, and root the package root.
	cwd, root string
	// packaged reports whether a path relative to the root is in the package.
	packaged func(rel string) bool
	// passed reports whether an absolute path is in the job's data.
	passed func(path string) bool
	// pickled means that a program in Python called the function: it has no flags.
	pickled bool
}

// missingFile returns how to provide a file of this machine to the job, or "" if the file is not here.
func (p project) missingFile(file string) string {
	cwd, root := p.cwd, p.root
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
	case err == nil && p.passed(here):
		return fmt.Sprintf("%s is passed as data, and has another path in the job: open the path that the function gets, or the volume's path", file)
	case err == nil && below && !filepath.IsAbs(file) && p.packaged(filepath.ToSlash(rel)):
		return "" // the program looked for it elsewhere
	case err == nil && below && !filepath.IsAbs(file):
		return fmt.Sprintf("%s is on this machine, but was left out of the package by .kineticignore or a default rule", file)
	case err == nil && below:
		return fmt.Sprintf("%s is a path on this machine: use a relative path, which the job finds in its copy of the project", file)
	case err == nil:
		how := fmt.Sprintf("pass it with --data NAME=%s, and open the path in KINETIC_DATA_NAME", file)
		if p.pickled {
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
