package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// cases are the projects of the jobs.
//
//go:embed cases
var cases embed.FS

// trial is a step while it runs.
type trial struct {
	step
	client
	suite *suite
	price *float64 // of its accelerators, for an hour
}

// project writes one of the cases into a directory of the step, and has the commands of the trial run there.
func (t *trial) project(name string) error {
	files, err := fs.Sub(cases, "cases/"+name)
	if err == nil {
		t.dir = filepath.Join(t.suite.dir, t.name)
		err = os.RemoveAll(t.dir) // of the look for the price
	}
	if err == nil {
		err = os.CopyFS(t.dir, files)
	}
	if err != nil {
		return fmt.Errorf("writing the project of %s: %w", t.name, err)
	}
	return nil
}

// write replaces a file of the project.
func (t *trial) write(name, text string) error {
	return os.WriteFile(filepath.Join(t.dir, name), []byte(text), 0o644)
}

// submit runs a job with the flags that all have.
func (t *trial) submit(ctx context.Context, target string, flags ...string) (answer, error) {
	args := []string{"run", target, "--max-runtime", "90m", "--label", "owner=" + t.suite.place.cluster}
	args = append(args, t.suite.cloud.flags(t.step)...)
	if t.accelerator == "" {
		args = append(args, "--cpu", "250m", "--memory", "512Mi")
	} else {
		args = append(args, "--accelerator", t.accelerator)
	}
	if t.backend != "" {
		args = append(args, "--backend", t.backend)
	}
	return t.kinetic(ctx, append(args, flags...)...)
}

// returns runs a job and compares its value, or the lines of a map.
func (t *trial) returns(ctx context.Context, want, target string, flags ...string) (answer, error) {
	a, err := t.submit(ctx, target, flags...)
	if err != nil {
		return a, err
	}
	return a, same(target, a.out, want)
}

// same compares what was printed, without the last end of line.
func same(what, got, want string) error {
	if got = strings.TrimRight(got, "\n"); got != want {
		return fmt.Errorf("%s returned %q, expected %q", what, got, want)
	}
	return nil
}
