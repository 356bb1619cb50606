//go:build unix

package main

import (
	"bytes"
	"context"
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
	rss  int64 // bytes, of the largest process among it and its children
}

// runs is how often a short command is measured; the median counts.
const runs = 11

// pair measures two commands in turn, so that a machine whose speed drifts
// treats both alike.
func pair(n int, a, b func() *exec.Cmd) (sample, sample, error) {
	var as, bs []sample
	for i := range n + 1 {
		x, err := once(a())
		if err != nil {
			return sample{}, sample{}, err
		}
		y, err := once(b())
		if err != nil {
			return sample{}, sample{}, err
		}
		if i > 0 { // the first is the warm-up
			as, bs = append(as, x), append(bs, y)
		}
	}
	return median(as), median(bs), nil
}

func once(cmd *exec.Cmd) (sample, error) {
	var stderr bytes.Buffer
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return sample{wall: wall}, fmt.Errorf("%v: %w\n%s", cmd.Args, err, stderr.Bytes())
	}
	s := spent(cmd)
	s.wall = wall
	return s, nil
}

// spent is what a command that has ended has cost, but for the time.
func spent(cmd *exec.Cmd) sample {
	var s sample
	if cmd.ProcessState == nil { // it never began
		return s
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.rss = usage.Maxrss << 10
	}
	return s
}

func median(samples []sample) sample {
	slices.SortFunc(samples, func(a, b sample) int { return int(a.wall - b.wall) })
	m := samples[len(samples)/2]
	for _, s := range samples {
		m.rss = max(m.rss, s.rss)
	}
	return m
}

// command makes the same command again and again.
func command(ctx context.Context, dir string, env []string, name string, args ...string) func() *exec.Cmd {
	return func() *exec.Cmd {
		c := exec.CommandContext(ctx, name, args...)
		c.Dir, c.Env = dir, append(os.Environ(), env...)
		return c
	}
}
