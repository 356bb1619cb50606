package frontdoor

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"

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

// fix says what to do about an installation with a missing or broken part.
const fix = "the plugin's binaries must be in one directory: reinstall it (with krew: " + version.Reinstall + ")"

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
