//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

const (
	// warmRuns is how often a call on a warm host is measured, coldRuns how often one with a pod of its own.
	warmRuns, coldRuns = 50, 5
	// warmFiles is the number of files of the project, one of which changes before each call, manyFiles that of a large project.
	warmFiles, manyFiles = 3000, 30000
	// farAway is the time of a round trip to a cluster elsewhere.
	farAway = 30 * time.Millisecond
	// idleTime is how long a host stays whose end is measured, idleRuns how many of them.
	idleTime, idleRuns = 5 * time.Second, 3
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
	e := edits{cluster: c, folder: "warm", program: []string{filepath.Join(c.bin, "kubectl-kinetic")}}
	if err := e.make(warmFiles); err != nil {
		return err
	}
	if err := exec.CommandContext(ctx, "hack/cluster/torch.sh").Run(); err == nil {
		e.imports, e.flags = "torch", []string{"--image", heavyImage}
	} else {
		fmt.Fprintln(c.out, "no image with PyTorch: the function imports nothing")
	}
	cold, err := e.run(ctx, coldRuns)
	if err != nil {
		return err
	}
	for _, level := range []string{"preloaded", "process", "clean"} {
		aims := map[string]string{"preloaded": "<= 100 / 300 ms", "process": "<= 100 / 300 ms", "clean": "<= 300 ms and the imports"}
		if err := e.atLevel(ctx, level, cold, aims[level]); err != nil {
			return err
		}
		if level == "preloaded" {
			if err := e.otherWays(ctx, cold); err != nil {
				return err
			}
		}
		if level == "clean" && e.imports != "" {
			if err := e.execTimes(ctx, "import "+e.imports, ""); err != nil {
				return err
			}
		}
		if err := e.endHosts(ctx); err != nil {
			return err
		}
	}
	large := edits{cluster: c, folder: "large", what: fmt.Sprintf(" with %d files", manyFiles), program: e.program}
	if err := large.make(manyFiles); err != nil {
		return err
	}
	if err := large.atLevel(ctx, "preloaded", cold, "<= 300 ms"); err != nil {
		return err
	}
	return errors.Join(large.endHosts(ctx), large.idleEnd(ctx))
}

// edits are runs of a project, a line of which changes before each one.
type edits struct {
	*cluster
	folder  string
	what    string   // for people, after the level
	program []string // with the words before run
	moreEnv []string // beside the cluster's
	imports string   // of the function
	flags   []string
}

// make writes the project's files.
func (e edits) make(files int) error {
	for i := range files {
		if err := e.write(fmt.Sprintf("%s/lib/package%d/module%d.py", e.folder, i/100, i), fmt.Sprintf("N = %d\n", i)); err != nil {
			return err
		}
	}
	return nil
}

// atLevel measures calls at a level. The host stays.
func (e edits) atLevel(ctx context.Context, level string, cold []runTimes, aim string) error {
	flags := []string{"--keep-warm", "10m," + level}
	if _, err := e.run(ctx, 2, flags...); err != nil { // the host starts, and learns what to import
		return err
	}
	all, err := e.run(ctx, warmRuns, append(flags, "--warm-only")...)
	if err != nil {
		return err
	}
	level += e.what
	e.firstLines(level, all, cold, aim)
	e.times(level+", its value on screen after that", all, cold, func(t runTimes) time.Duration { return t.value - t.first }, "<= 50 ms")
	e.times(level+", its exit after that", all, cold, func(t runTimes) time.Duration { return t.exit - t.value }, "")
	return nil
}

func (e edits) firstLines(what string, all, cold []runTimes, aim string) {
	e.times(what+", Enter to the first line of the function", all, cold, func(t runTimes) time.Duration { return t.first }, aim)
}

// otherWays measures calls to a host that is there: through kubectl, and from elsewhere, both also with kubectl exec.
func (e edits) otherWays(ctx context.Context, cold []runTimes) error {
	flags := []string{"--keep-warm", "10m,preloaded", "--warm-only"}
	if err := e.execTimes(ctx, "print(1)", ""); err != nil {
		return err
	}
	plugin := e
	plugin.program = []string{"kubectl", "kinetic"}
	plugin.moreEnv = []string{"PATH=" + e.bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	all, err := plugin.run(ctx, warmRuns, flags...)
	if err != nil {
		return err
	}
	e.firstLines("preloaded through kubectl", all, cold, "70 ms more")
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	address, err := delayed(ctx, strings.TrimPrefix(e.server, "https://"), farAway)
	if err != nil {
		return err
	}
	path, err := e.kubeconfig("far", behind(address))
	if err != nil {
		return err
	}
	far := e
	far.moreEnv = []string{"KUBECONFIG=" + path}
	if _, err := far.run(ctx, 1, flags...); err != nil { // which remembers the host
		return err
	}
	if all, err = far.run(ctx, warmRuns, flags...); err != nil {
		return err
	}
	where := fmt.Sprintf(" behind %d ms", farAway.Milliseconds())
	e.firstLines("preloaded"+where, all, cold, "<= 400 ms")
	return far.execTimes(ctx, "print(1)", where)
}

func (e edits) endHosts(ctx context.Context) error {
	_, err := once(e.ours(ctx, "jobs", "warm", "--end", "--mine")())
	return err
}

// idleEnd measures when hosts without a call end.
func (e edits) idleEnd(ctx context.Context) error {
	var late []time.Duration
	for range idleRuns {
		if _, err := e.run(ctx, 1, "--keep-warm", idleTime.String(), "--fresh"); err != nil {
			return err
		}
		ended := time.Now()
		if _, err := once(e.kubectl(ctx, "wait", "--for=condition=complete", "job", "-l", api.LabelWarm, "--timeout=60s")()); err != nil {
			return err
		}
		late = append(late, time.Since(ended)-idleTime)
		if err := e.endHosts(ctx); err != nil {
			return err
		}
	}
	slices.Sort(late)
	e.row("warm host without a call, its Job's end after the given time", fmt.Sprintf("%d ms", late[len(late)/2].Milliseconds()), "", "", "<= 5000 ms")
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

// run changes a line and runs the project, some times.
func (e edits) run(ctx context.Context, n int, flags ...string) ([]runTimes, error) {
	var all []runTimes
	for range n {
		time.Sleep(editTime)
		e.version++
		if err := e.write(e.folder+"/train.py", fmt.Sprintf(edit, e.imports, e.version)); err != nil {
			return nil, err
		}
		args := slices.Concat(e.program[1:], []string{"run", "train.py:first", "--cpu", "100m", "--memory", "1Gi"}, e.flags, flags)
		cmd := command(ctx, filepath.Join(e.dir, e.folder), slices.Concat(e.env, e.moreEnv), e.program[0], args...)()
		t, err := timed(cmd, fmt.Sprint(e.version))
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

// execTimes measures a Python that kubectl starts in the pod of a warm host, for a program.
func (e edits) execTimes(ctx context.Context, program, where string) error {
	kubectl := func(args ...string) *exec.Cmd {
		return command(ctx, e.dir, slices.Concat(e.env, e.moreEnv), "kubectl", args...)()
	}
	pod, err := kubectl("get", "pods", "-l", api.LabelWarm, "-o", "name").Output()
	if err != nil {
		return err
	}
	var all []sample
	for range warmRuns {
		s, err := once(kubectl("exec", strings.TrimSpace(string(pod)), "--", "python3", "-c", program))
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	e.row(fmt.Sprintf("kubectl exec POD -- python3 -c '%s'%s", program, where), "", ms(median(all)), "", "")
	return nil
}
