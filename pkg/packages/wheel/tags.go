package wheel

import (
	"fmt"
	"strconv"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Target is what wheels are chosen for: an interpreter and the machine under it.
type Target struct {
	Python string // "3.12", of CPython
	Arch   string // "amd64" or "arm64", as in the platform of an image
	Libc   string // "glibc 2.36" or "musl 1.2"
}

// minPython is the oldest minor version of Python 3 that jobs run on.
const minPython = 9

// String describes the target in a sentence.
func (t Target) String() string {
	return fmt.Sprintf("Python %s on linux/%s with %s", t.Python, t.Arch, t.Libc)
}

// Machine returns the processor as Linux names it, "" if it is neither amd64 nor arm64.
func (t Target) Machine() string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[t.Arch]
}

// Tags returns the tags of the wheels that the target accepts, the best first (PEP 425, 600
// and 656). The order is that of pip.
func (t Target) Tags() ([]string, error) {
	minor, err := minorVersion(t.Python)
	if err != nil {
		return nil, err
	}
	platforms, err := t.platforms()
	if err != nil {
		return nil, err
	}
	var tags []string
	add := func(python, abi string) {
		for _, platform := range platforms {
			tags = append(tags, python+"-"+abi+"-"+platform)
		}
	}
	cpython := fmt.Sprintf("cp3%d", minor)
	add(cpython, cpython)
	add(cpython, "abi3")
	add(cpython, "none")
	for older := minor - 1; older >= 2; older-- {
		add(fmt.Sprintf("cp3%d", older), "abi3")
	}
	generic := []string{fmt.Sprintf("py3%d", minor), "py3"}
	for older := minor - 1; older >= 0; older-- {
		generic = append(generic, fmt.Sprintf("py3%d", older))
	}
	for _, python := range generic {
		add(python, "none")
	}
	tags = append(tags, cpython+"-none-any")
	for _, python := range generic {
		tags = append(tags, python+"-none-any")
	}
	return tags, nil
}

const pythonVersion = `^3\.(0|[1-9]\d{0,2})$`

// minorVersion returns the 12 of "3.12".
func minorVersion(python string) (int, error) {
	m := lazyregexp.Of(pythonVersion).FindStringSubmatch(python)
	if m == nil {
		return 0, fmt.Errorf("version %q of Python is not of the form 3.12", python)
	}
	minor, err := strconv.Atoi(m[1])
	if err == nil && minor < minPython {
		err = fmt.Errorf("version %s of Python is too old: 3.%d is the oldest that is supported", python, minPython)
	}
	return minor, err
}

const libcVersion = `^(glibc 2|musl 1)\.(0|[1-9]\d{0,2})$`

// platforms returns the platform tags that the target accepts, the best first.
func (t Target) platforms() ([]string, error) {
	machine := t.Machine()
	if machine == "" {
		return nil, fmt.Errorf("architecture %q is neither amd64 nor arm64", t.Arch)
	}
	m := lazyregexp.Of(libcVersion).FindStringSubmatch(t.Libc)
	if m == nil {
		return nil, fmt.Errorf(`libc %q: expected a version such as "glibc 2.36" or "musl 1.2"`, t.Libc)
	}
	newest, err := strconv.Atoi(m[2])
	if err != nil {
		return nil, err
	}
	var platforms []string
	if m[1] == "musl 1" {
		for minor := newest; minor >= 0; minor-- {
			platforms = append(platforms, fmt.Sprintf("musllinux_1_%d_%s", minor, machine))
		}
		return append(platforms, "linux_"+machine), nil
	}
	oldest := 17 // of glibc; only x86 had manylinux tags before
	if t.Arch == "amd64" {
		oldest = 5
	}
	names := map[int]string{17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
	for minor := newest; minor >= oldest; minor-- {
		platforms = append(platforms, fmt.Sprintf("manylinux_2_%d_%s", minor, machine))
		if name := names[minor]; name != "" {
			platforms = append(platforms, name+"_"+machine)
		}
	}
	return append(platforms, "linux_"+machine), nil
}
