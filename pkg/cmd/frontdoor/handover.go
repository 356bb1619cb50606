package frontdoor

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

func (p Process) handOver(binary string, args []string) (int, error) {
	path, err := p.find(binary)
	if err != nil {
		return 0, err
	}
	code, err := p.Exec(path, append([]string{path}, args...))
	if err != nil {
		return 0, fmt.Errorf("starting %s: %w; %s", path, err, fix)
	}
	return code, nil
}

// printVersion prints what a sibling says, and without one this program's version, unless a program reads it. The sibling has no terminal: a program
// that gets credentials would ask there, and go on asking when the sibling has given up.
func (p Process) printVersion(c command, args []string) (int, error) {
	path, err := p.find(c.binary)
	if err == nil {
		var said Answer
		said, err = p.Output(path, c.line(slices.Concat([]string{"--front-door=" + version.String()}, args)))
		if err == nil {
			_, _ = p.Stderr.Write([]byte(said.Stderr))
			return said.Code, write(p.Stdout, said.Stdout)
		}
		if errors.Is(err, errInterrupted) {
			return 0, err
		}
		err = fmt.Errorf("starting %s: %w; %s", path, err, fix)
	}
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-o") || strings.HasPrefix(arg, "--output") }) {
		_ = write(p.Stdout, product+" "+version.Read().Line()+"\n") // the error matters more
	}
	return 0, err
}

// fix says what to do about an installation with a missing or broken part.
const fix = "the plugin's binaries must be in one directory: reinstall it (with krew: kubectl krew uninstall kinetic && kubectl krew install kinetic)"

// find looks in this program's folder first, so that all parts have the same version even
// if several installations share a PATH. A copy for completion may be alone in its folder:
// the others are then beside the plugin that kubectl finds.
func (p Process) find(binary string) (string, error) {
	beside := filepath.Join(filepath.Dir(p.Executable), binary)
	path, err := exec.LookPath(beside)
	if err == nil {
		return path, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot be run: %w; %s", beside, errors.Unwrap(err), fix)
	}
	if plugin, err := exec.LookPath(pluginName); err == nil {
		if plugin, err = filepath.EvalSymlinks(plugin); err == nil {
			if path, err = exec.LookPath(filepath.Join(filepath.Dir(plugin), binary)); err == nil {
				return path, nil
			}
		}
	}
	path, err = exec.LookPath(binary)
	if err != nil {
		return "", fmt.Errorf("%s is missing: it is neither in %s nor on PATH; %s", binary, filepath.Dir(beside), fix)
	}
	return path, nil
}
