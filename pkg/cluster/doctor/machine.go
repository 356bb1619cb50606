package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

// MachineWithin limits each check. gcloud is written in Python and takes a second to start.
const MachineWithin = 2500 * time.Millisecond

// MachineOptions say what to look at.
type MachineOptions struct {
	// Program gets the credentials for the cluster, "" for none. Install is how to install it if
	// it is the one for GKE, else "".
	Program, Install string
	// Version is the version of this program, and Dir its folder, where the other programs of
	// the plugin are.
	Version, Dir string
}

// MachineChecks returns the checks of this machine.
func MachineChecks(o MachineOptions) []Check {
	check := func(name, slow string, run func(context.Context) Finding) Check {
		return Check{Group: "This machine", Name: name, Within: MachineWithin, Slow: slow, Run: run}
	}
	const busy, first = "this machine is busy", "it is installed, but slow to start the first time, or when this machine is busy"
	return []Check{
		check("gcloud", first, o.gcloud),
		check("auth plugin", first, o.plugin),
		check("Python", busy, python),
		check("programs", busy, o.programs),
	}
}

func (o MachineOptions) gcloud(ctx context.Context) Finding {
	if o.Install == "" {
		return Skip("not needed: %s", o.otherWay())
	}
	return firstLine(ctx, "gcloud", "https://cloud.google.com/sdk/docs/install", "--version")
}

func (o MachineOptions) plugin(ctx context.Context) Finding {
	if o.Install == "" {
		return Skip("not needed: %s", o.otherWay())
	}
	return firstLine(ctx, o.Program, o.Install, "--version")
}

// otherWay says why Google's programs are not needed.
func (o MachineOptions) otherWay() string {
	if o.Program == "" {
		return "no program gets the credentials for the cluster"
	}
	return "the credentials for the cluster come from " + o.Program
}

// firstLine returns the finding for a program that prints its version on its first line. install
// says how to install it.
func firstLine(ctx context.Context, program, install string, args ...string) Finding {
	path, err := exec.LookPath(program)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return Bad(install, "not installed, or not on PATH")
	}
	if err != nil {
		return Bad("", "it can't be run: %v", err)
	}
	output, err := platform.Run(ctx, platform.Command{Path: path, Args: args})
	if err != nil {
		return Bad(install, "%s %s: %v: %s", path, strings.Join(args, " "), err, platform.LastLines(output, 1))
	}
	line, _, _ := strings.Cut(strings.TrimSpace(output), "\n")
	return Good("%s (%s)", line, path)
}

// askVersion prints the version of Python, and whether it is new enough for jobs on this machine.
const askVersion = "import sys; print(sys.version.split()[0], sys.version_info >= (3, 9))"

// python looks for what runs jobs on this machine. Others don't need it.
func python(ctx context.Context) Finding {
	const need = "only --local needs it"
	path, err := exec.LookPath(platform.Python())
	if err != nil {
		return Skip("no %s on PATH; %s", platform.Python(), need)
	}
	output, err := platform.Run(ctx, platform.Command{Path: path, Args: []string{"-c", askVersion}})
	version, enough, _ := strings.Cut(strings.TrimSpace(output), " ")
	switch {
	case err != nil:
		return Skip("%s can't be run: %v: %s; %s", path, err, platform.LastLines(output, 1), need)
	case enough != "True":
		return Skip("%s is %s, but 3.9 or newer is needed; %s", path, version, need)
	}
	return Good("%s (%s)", version, path)
}

// programs compares the versions of the plugin's programs.
func (o MachineOptions) programs(ctx context.Context) Finding {
	names := []string{"kubectl-kinetic", "kubectl-kinetic_run", "kubectl-kinetic_jobs"}
	others := make([]string, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { others[i] = o.difference(ctx, name) })
	}
	all.Wait()
	others = slices.DeleteFunc(others, func(s string) bool { return s == "" })
	if len(others) > 0 {
		return Bad(version.Reinstall, "this program is %s, but %s: the plugin's programs must be in one directory; reinstall it", o.Version, strings.Join(others, ", "))
	}
	return Good("all have version %s", o.Version)
}

// difference says how another program of the plugin differs from this one, "" if it doesn't.
func (o MachineOptions) difference(ctx context.Context, name string) string {
	path, err := exec.LookPath(filepath.Join(o.Dir, name))
	if err != nil {
		path, err = exec.LookPath(name)
	}
	if err != nil {
		return name + " is missing"
	}
	output, err := platform.Run(ctx, platform.Command{Path: path, Args: []string{version.Word}})
	switch theirs := strings.TrimSpace(output); {
	case err != nil:
		return path + " does not print its version"
	case theirs != o.Version:
		return fmt.Sprintf("%s is %s", path, theirs)
	}
	return ""
}
