package resolve

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// uv is the path of the program. It knows its own settings and variables, and ignores those of pip.
type uv struct{ path string }

func (uv) way() Method { return UV }

func (u uv) command(j *job) (string, []string) {
	w := j.wish
	args := []string{
		"pip", "compile", j.requires, "--format", "pylock.toml", "--output-file", j.result, "--only-binary", ":all:",
		"--python-version", cmp.Or(w.FullPython, w.Target.Python), "--python-platform", uvPlatform(w.Target), "--no-header", "--no-progress",
	}
	if j.limits != "" {
		args = append(args, "--constraints", j.limits)
	}
	for _, option := range w.Options { // that uv ignores in files
		switch name, value, _ := strings.Cut(option, " "); name {
		case "--pre":
			args = append(args, "--prerelease", "allow")
		case "--trusted-host":
			args = append(args, "--allow-insecure-host", value)
		}
	}
	return u.path, args
}

// uvPlatform returns uv's name for the platform of a target. Of those with glibc it knows 2.17, 2.28 and
// 2.31 to 2.40.
func uvPlatform(t wheel.Target) string {
	libc, version, _ := strings.Cut(t.Libc, " ")
	if libc == "musl" {
		return t.Machine() + "-unknown-linux-musl"
	}
	_, minor, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(minor)
	switch {
	case err != nil || n < 28:
		n = 17
	case n < 31:
		n = 28
	case n > 40:
		n = 40
	}
	return fmt.Sprintf("%s-manylinux_2_%d", t.Machine(), n)
}

// maxResult is the size of the largest result that is read.
const maxResult = 64 << 20

func readResult(j *job) ([]byte, error) {
	f, err := os.Open(j.result)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it has written nothing")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(&limited{r: f, left: maxResult, full: fmt.Errorf("it has more than %d MiB", maxResult>>20)})
}

func (uv) read(j *job) ([]deps.Package, error) {
	text, err := readResult(j)
	if err != nil {
		return nil, err
	}
	o := j.wish.lockOptions("its result")
	// Links may be to anywhere on this machine: the user said where.
	o.Dir, o.Root = j.dir, filepath.VolumeName(j.dir)+string(filepath.Separator)
	o.Extras, o.Groups = nil, nil // which deps has read
	l, err := deps.ReadPyLock(text, o)
	return l.Packages, err
}
