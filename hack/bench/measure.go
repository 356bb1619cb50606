//go:build unix

package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// sample is what one finished process cost.
type sample struct {
	wall time.Duration
	cpu  time.Duration
	rss  int64 // bytes, of the largest among the process and its children
}

// runs is how often a short command is measured; the median counts.
const runs = 11

// pair measures two commands alternately.
func pair(n int, a, b func() *exec.Cmd) (sample, sample, error) {
	medians, err := inTurn(n, a, b)
	if err != nil {
		return sample{}, sample{}, err
	}
	return medians[0], medians[1], nil
}

// inTurn measures commands alternately, so that a machine whose speed drifts affects all of
// them equally.
func inTurn(n int, commands ...func() *exec.Cmd) ([]sample, error) {
	samples := make([][]sample, len(commands))
	for i := range n + 1 {
		for j, c := range commands {
			s, err := once(c())
			if err != nil {
				return nil, err
			}
			if i > 0 { // the first is the warm-up
				samples[j] = append(samples[j], s)
			}
		}
	}
	medians := make([]sample, len(commands))
	for j := range samples {
		medians[j] = median(samples[j])
	}
	return medians, nil
}

// once runs a command that must succeed.
func once(cmd *exec.Cmd) (sample, error) {
	var stderr bytes.Buffer
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	args := cmd.Args
	s, err := launch(cmd)
	if err != nil {
		return s, fmt.Errorf("%v: %w\n%s", args, err, stderr.Bytes())
	}
	return s, nil
}

// launcher runs a command. It is needed because the system reports at least this process's
// own memory for each of its children.
//
//go:embed launch.py
var launcher string

// launch runs a command and returns its cost, even if it fails. The command is killed if
// its context ends or the launcher gets SIGTERM.
func launch(cmd *exec.Cmd) (sample, error) {
	if cmd.Err != nil {
		return sample{}, cmd.Err
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return sample{}, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return sample{}, err
	}
	defer r.Close()
	cmd.Args = slices.Concat([]string{python, "-ISc", launcher, cmd.Path}, cmd.Args[1:])
	cmd.Path, cmd.ExtraFiles = python, []*os.File{w}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	err = cmd.Run()
	w.Close()
	var cost struct {
		Wall, CPU float64 // seconds
		RSS       int64
	}
	if decodeErr := json.NewDecoder(r).Decode(&cost); err == nil {
		err = decodeErr
	}
	seconds := func(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
	return sample{wall: seconds(cost.Wall), cpu: seconds(cost.CPU), rss: cost.RSS}, err
}

func median(samples []sample) sample {
	slices.SortFunc(samples, func(a, b sample) int { return int(a.wall - b.wall) })
	m := samples[len(samples)/2]
	for _, s := range samples {
		m.rss = max(m.rss, s.rss)
	}
	return m
}

// command returns a function that makes the same command again for each run.
func command(ctx context.Context, dir string, env []string, name string, args ...string) func() *exec.Cmd {
	return func() *exec.Cmd {
		c := exec.CommandContext(ctx, name, args...)
		c.Dir, c.Env = dir, append(os.Environ(), env...)
		return c
	}
}
