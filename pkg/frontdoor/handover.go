package frontdoor

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
)

// handOver continues as the named binary with the given arguments.
func (p Process) handOver(binary string, args []string) (int, error) {
	path, err := p.find(binary)
	if err != nil {
		return 0, err
	}
	code, err := p.Exec(path, append([]string{path}, args...))
	if err != nil {
		return 0, fmt.Errorf("starting %s: %w; %s", path, err, mend)
	}
	return code, nil
}

// fix is what to do about an installation with a part missing or broken.
const mend = "the programs of this plugin belong in one folder: install it again (with krew: kubectl krew uninstall kinetic && kubectl krew install kinetic)"

// find looks beside this program first, so that all parts have one version
// even where several installations share a PATH.
func (p Process) find(binary string) (string, error) {
	beside := filepath.Join(filepath.Dir(p.Executable), binary)
	path, err := exec.LookPath(beside)
	if err == nil {
		return path, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot be run: %w; %s", beside, errors.Unwrap(err), mend)
	}
	path, err = exec.LookPath(binary)
	if err != nil {
		return "", fmt.Errorf("%s is missing: it is neither in %s nor on PATH; %s", binary, filepath.Dir(beside), mend)
	}
	return path, nil
}
