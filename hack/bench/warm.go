//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// warmRuns is how often a call on a warm host is measured, coldRuns how often one with a pod of its own.
	warmRuns, coldRuns = 50, 5
	// warmFiles is the number of files of the project, one of which changes before each call.
	warmFiles = 3000
	// editTime is how long an edit takes a person, at least; meanwhile the host imports what the last call has imported.
	editTime = 4 * time.Second
	// heavyImage has PyTorch, for a function that imports much.
	heavyImage = "localhost/torch:1"
)

// edit is the file that changes. The function returns the version that runs.
const edit = `IMPORTS = %q
for name in IMPORTS.split():
    __import__(name)

def first():
    print("the first line", flush=True)
    return %d
`

// runTimes are the moments of one run, from its start.
type runTimes struct{ first, value, exit time.Duration }

// warm: the second and later runs of an edit, compared with runs that have a pod of their own, and with kubectl exec.
func (c *cluster) warm(ctx context.Context) error {
	for i := range warmFiles {
		if err := c.write(fmt.Sprintf("warm/lib/package%d/module%d.py", i/100, i), fmt.Sprintf("N = %d\n", i)); err != nil {
			return err
		}
	}
	imports, image := "", []string{}
	if err := exec.CommandContext(ctx, "hack/cluster/torch.sh").Run(); err == nil {
		imports, image = "torch", []string{"--image", heavyImage}
	} else {
		fmt.Fprintln(c.out, "no image with PyTorch: the function imports nothing")
	}
	cold, err := c.edits(ctx, coldRuns, imports, image...)
	if err != nil {
		return err
	}
	for _, level := range []string{"preloaded", "process", "clean"} {
		flags := append([]string{"--keep-warm", "10m," + level}, image...)
		if _, err := c.edits(ctx, 2, imports, flags...); err != nil { // the host starts, and learns what to import
			return err
		}
		all, err := c.edits(ctx, warmRuns, imports, append(flags, "--warm-only")...)
		if err != nil {
			return err
		}
		aims := map[string]string{"preloaded": "<= 100 / 300 ms", "process": "<= 100 / 300 ms", "clean": "<= 300 ms and the imports"}
		c.times(level+", Enter to the first line of the function", all, cold, func(t runTimes) time.Duration { return t.first }, aims[level])
		c.times(level+", its value on screen after that", all, cold, func(t runTimes) time.Duration { return t.value - t.first }, "<= 50 ms")
		c.times(level+", its exit after that", all, cold, func(t runTimes) time.Duration { return t.exit - t.value }, "")
		if level == "preloaded" {
			if err := c.execTimes(ctx); err != nil {
				return err
			}
		}
		if _, err := once(c.ours(ctx, "jobs", "warm", "--end", "--mine")()); err != nil {
			return err
		}
	}
	return nil
}

// times prints the median and the slowest of a hundred of a span of runs, and the median of others.
func (c *cluster) times(what string, all, others []runTimes, span func(runTimes) time.Duration, aim string) {
	own, other := sorted(all, span), sorted(others, span)
	c.row("warm "+what+", p50 / p99, over a cold run", fmt.Sprintf("%d / %d ms", own[len(own)/2].Milliseconds(), own[len(own)*99/100].Milliseconds()),
		fmt.Sprintf("%d ms", other[len(other)/2].Milliseconds()), fmt.Sprintf("%.2fx", float64(own[len(own)/2])/float64(other[len(other)/2])), aim)
}

func sorted(all []runTimes, span func(runTimes) time.Duration) []time.Duration {
	var spans []time.Duration
	for _, t := range all {
		spans = append(spans, span(t))
	}
	slices.Sort(spans)
	return spans
}

// edits changes a line and runs the project, some times.
func (c *cluster) edits(ctx context.Context, n int, imports string, flags ...string) ([]runTimes, error) {
	var all []runTimes
	for range n {
		time.Sleep(editTime)
		c.version++
		if err := c.write("warm/train.py", fmt.Sprintf(edit, imports, c.version)); err != nil {
			return nil, err
		}
		args := append([]string{"run", "train.py:first", "--cpu", "100m", "--memory", "1Gi"}, flags...)
		cmd := command(ctx, filepath.Join(c.dir, "warm"), c.env, filepath.Join(c.bin, "kubectl-kinetic"), args...)()
		t, err := timed(cmd, fmt.Sprint(c.version))
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// timed runs a command that prints the first line, and the value on standard output.
func timed(cmd *exec.Cmd, value string) (t runTimes, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return t, err
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		return t, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return t, err
	}
	var all bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(io.TeeReader(log, &all)); lines.Scan(); {
			if strings.HasSuffix(lines.Text(), "the first line") {
				t.first = time.Since(began)
			}
		}
	}()
	line, readErr := bufio.NewReader(out).ReadString('\n')
	t.value = time.Since(began)
	<-read
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		return t, fmt.Errorf("%v: %w\n%s", cmd.Args, err, &all)
	}
	t.exit = time.Since(began)
	if got := strings.TrimSpace(line); got != value || t.first == 0 {
		return t, fmt.Errorf("%v: got %q, want %q\n%s", cmd.Args, got, value, &all)
	}
	return t, nil
}

// execTimes measures a Python that kubectl starts in the pod of a warm host.
func (c *cluster) execTimes(ctx context.Context) error {
	pod, err := c.kubectl(ctx, "get", "pods", "-l", "kubectl-kinetic.github.io/warm", "-o", "name")().Output()
	if err != nil {
		return err
	}
	var all []sample
	for range warmRuns {
		s, err := once(c.kubectl(ctx, "exec", strings.TrimSpace(string(pod)), "--", "python3", "-c", "print(1)")())
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	c.row("kubectl exec POD -- python3 -c 'print(1)'", "", ms(median(all)), "", "")
	return nil
}
