package submit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// choosePython finds the interpreter of a local job, which must be able to run it and to read
// the payload.
func (p *Planned) choosePython(ctx context.Context, m Machine) (err error) {
	const advice = "install Python 3.9 or newer, or activate a virtual environment that has it"
	if p.Spec.Backend != api.BackendLocal {
		return nil
	}
	if p.Python == "" {
		if p.Python, err = exec.LookPath(platform.Python()); err != nil {
			return errors.New("--local needs python3, and there is none on PATH: " + advice)
		}
	}
	here, err := versionOf(ctx, p.Python, m)
	switch made := p.payload.Python; {
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil: // perhaps it is only slow now
		return nil
	case err != nil:
		return fmt.Errorf("--local needs python3, but %s does not work: %w: %s", p.Python, err, advice)
	case tooOld(here):
		return fmt.Errorf("--local needs Python 3.9 or newer, but %s is Python %s: %s", p.Python, here, advice)
	case made != "" && made != here:
		return fmt.Errorf("--payload %s: it was made with Python %s, but %s, which --local uses, is Python %s: activate an environment that has Python %s",
			p.request.Payload, made, p.Python, here, made)
	}
	return nil
}

// tooOld reports whether a version X.Y is older than what the runner needs.
func tooOld(version string) bool {
	minor, err := strconv.Atoi(strings.TrimPrefix(version, "3."))
	return err != nil || minor < 9
}

// pythonTime limits how long this machine's Python may take to say its version.
const pythonTime = 5 * time.Second

const minorVersion = `^3\.[0-9]+$`

// versionScript prints the version of a Python, and its path as bytes that name a file.
const versionScript = "import sys; sys.stdout.buffer.write(('%d.%d\\n%s' % (*sys.version_info[:2], sys.executable)).encode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()))"

// PythonVersion returns the version of this machine's Python, X.Y, "" if there is none.
func PythonVersion(ctx context.Context, m Machine) string {
	found, err := exec.LookPath(platform.Python())
	if err != nil {
		return ""
	}
	version, err := versionOf(ctx, found, m)
	if err != nil {
		return ""
	}
	return version
}

// versionOf returns the version of a Python, X.Y. Asking it takes longer than the rest of a
// dry-run, so the answer is remembered, unless a shim gives it: which Python that starts
// depends on files and variables of its own.
func versionOf(ctx context.Context, python string, m Machine) (string, error) {
	info, err := os.Stat(python)
	if err != nil {
		return "", err
	}
	question := fmt.Sprintf("%q %d %d", python, info.Size(), info.ModTime().UnixNano())
	memory := filepath.Join(m.CacheDir, "python-"+sha256Hex([]byte(question))[:24])
	if m.CacheDir != "" {
		if text, err := os.ReadFile(memory); err == nil && lazyregexp.Of(minorVersion).Match(text) {
			return string(text), nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, pythonTime)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, python, "-I", "-S", "-c", versionScript)
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second // a shim may leave behind what holds its output open
	out, err := cmd.Output()
	version, executable, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	version = strings.TrimSpace(version)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("%w: %s", err, platform.LastLines(stderr.String(), 1))
	case !lazyregexp.Of(minorVersion).MatchString(version):
		return "", fmt.Errorf("it gives %q for its version", version)
	}
	if m.CacheDir != "" && isSameFile(python, executable) && os.MkdirAll(m.CacheDir, 0o700) == nil {
		_ = os.WriteFile(memory, []byte(version), 0o600)
	}
	return version, nil
}

// isSameFile reports whether two paths lead to the same file; the second may be none.
func isSameFile(path, other string) bool {
	a, err := filepath.EvalSymlinks(path)
	b, otherErr := filepath.EvalSymlinks(other)
	return err == nil && otherErr == nil && a == b
}
