package wheel_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Python's pip, which the next test asks, is not on every machine.
func TestTagsGolden(t *testing.T) {
	var all strings.Builder
	for _, target := range []wheel.Target{
		{Python: "3.10", Arch: "amd64", Libc: "glibc 2.18"},
		{Python: "3.9", Arch: "arm64", Libc: "glibc 2.17"},
		{Python: "3.9", Arch: "amd64", Libc: "musl 1.2"},
	} {
		tags, err := target.Tags()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s: %d tags from %s to %s, %x\n", target, len(tags), tags[0], tags[len(tags)-1], sha256.Sum256([]byte(strings.Join(tags, "\n"))))
	}
	golden.Check(t, "testdata/tags.golden", all.String())
}

// packagingTags prints the tags of targets as the library has them that pip uses.
const packagingTags = `
import json, sys
from pip._vendor.packaging import tags, _manylinux, _musllinux
found = []
for python, machine, libc, version in json.load(sys.stdin):
    python = tuple(map(int, python.split(".")))
    version = tuple(map(int, version.split(".")))
    if libc == "glibc":
        _manylinux._get_glibc_version = lambda: version
        _manylinux._is_compatible = lambda name, arch, needed: needed <= version
        try:
            platforms = list(_manylinux.platform_tags("linux_" + machine, machine))
        except TypeError:  # newer
            _manylinux._is_compatible = lambda arch, needed: needed <= version
            platforms = list(_manylinux.platform_tags([machine]))
    else:
        _musllinux._get_musl_version = lambda _: _musllinux._MuslVersion(*version)
        try:
            platforms = list(_musllinux.platform_tags([machine]))
            if not all(p.endswith("_" + machine) for p in platforms):
                raise TypeError
        except TypeError:
            platforms = list(_musllinux.platform_tags(machine))
    platforms.append("linux_" + machine)
    cpython = "cp%d%d" % python
    found.append([str(t) for t in tags.cpython_tags(python, [cpython], platforms)] +
                 [str(t) for t in tags.compatible_tags(python, cpython, platforms)])
json.dump(found, sys.stdout)
`

func TestTagsEqualPips(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "from pip._vendor.packaging import _manylinux, _musllinux").CombinedOutput(); err != nil {
		t.Skipf("python3 has no pip: %v: %s", err, out)
	}
	var targets []wheel.Target
	var questions [][4]string
	for _, python := range []string{"3.9", "3.10", "3.12", "3.14"} {
		for arch, machine := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
			for _, libc := range []string{"glibc 2.4", "glibc 2.17", "glibc 2.36", "glibc 2.41", "musl 1.0", "musl 1.2"} {
				name, version, _ := strings.Cut(libc, " ")
				targets = append(targets, wheel.Target{Python: python, Arch: arch, Libc: libc})
				questions = append(questions, [4]string{python, machine, name, version})
			}
		}
	}
	input, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-c", packagingTags)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(input)), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var want [][]string
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(targets) {
		t.Fatalf("%v, %d answers", err, len(want))
	}
	for i, target := range targets {
		got, err := target.Tags()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want[i]) {
			t.Errorf("%s: got %d tags, pip has %d", target, len(got), len(want[i]))
		}
	}
}

func TestTargetSaysWhatIsWrong(t *testing.T) {
	good := wheel.Target{Python: "3.12", Arch: "amd64", Libc: "glibc 2.36"}
	for want, change := range map[string]func(*wheel.Target){
		`version "3" of Python is not of the form 3.12`: func(t *wheel.Target) { t.Python = "3" },
		`version "2.7" of Python`:                       func(t *wheel.Target) { t.Python = "2.7" },
		`version "3.13t" of Python`:                     func(t *wheel.Target) { t.Python = "3.13t" },
		`version 3.8 of Python is too old: 3.9`:         func(t *wheel.Target) { t.Python = "3.8" },
		`architecture "x86_64" is neither`:              func(t *wheel.Target) { t.Arch = "x86_64" },
		`libc "2.36": expected a version`:               func(t *wheel.Target) { t.Libc = "2.36" },
		`libc "musl 2.0": expected a version`:           func(t *wheel.Target) { t.Libc = "musl 2.0" },
	} {
		target := good
		change(&target)
		if _, err := target.Tags(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: err = %v, want %q in it", target, err, want)
		}
		if _, err := wheel.Best(nil, target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Best for %+v: err = %v, want %q in it", target, err, want)
		}
	}
}

func names(t *testing.T, files ...string) []wheel.Name {
	t.Helper()
	var all []wheel.Name
	for _, file := range files {
		n, err := wheel.ParseName(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

func TestBest(t *testing.T) {
	target := wheel.Target{Python: "3.12", Arch: "amd64", Libc: "glibc 2.36"}
	for name, tt := range map[string]struct {
		files []string
		want  int
	}{
		"the platform before any":       {[]string{"a-1-py3-none-any.whl", "a-1-cp312-cp312-linux_x86_64.whl"}, 1},
		"the newest libc":               {[]string{"a-1-cp312-cp312-manylinux2014_x86_64.whl", "a-1-cp312-cp312-manylinux_2_28_x86_64.whl"}, 1},
		"not a libc that is too new":    {[]string{"a-1-cp312-cp312-manylinux_2_39_x86_64.whl", "a-1-cp312-cp312-manylinux_2_28_x86_64.whl"}, 1},
		"not another machine":           {[]string{"a-1-cp312-cp312-manylinux_2_17_aarch64.whl", "a-1-py3-none-any.whl"}, 1},
		"not a musl wheel":              {[]string{"a-1-cp312-cp312-musllinux_1_2_x86_64.whl", "a-1-py3-none-any.whl"}, 1},
		"its own ABI before the stable": {[]string{"a-1-cp38-abi3-manylinux2014_x86_64.whl", "a-1-cp312-cp312-manylinux2014_x86_64.whl"}, 1},
		"the newer stable ABI":          {[]string{"a-1-cp37-abi3-manylinux2014_x86_64.whl", "a-1-cp38-abi3-manylinux2014_x86_64.whl"}, 1},
		"the higher build":              {[]string{"a-1-9-py3-none-any.whl", "a-1-py3-none-any.whl", "a-1-10-py3-none-any.whl", "a-1-2z-py3-none-any.whl"}, 2},
		"the higher letter of a build":  {[]string{"a-1-2b-py3-none-any.whl", "a-1-2a-py3-none-any.whl"}, 0},
		"the tag before the build":      {[]string{"a-1-9-py3-none-any.whl", "a-1-1-cp312-none-any.whl"}, 1},
		"the first of equals":           {[]string{"a-1-py3-none-any.whl", "A-1-py3-none-any.whl"}, 0},
		"the best of several tags":      {[]string{"a-1-py3-none-any.whl", "a-1-py2.cp312-none-any.whl"}, 1},
	} {
		if got, err := wheel.Best(names(t, tt.files...), target); err != nil || got != tt.want {
			t.Errorf("%s: got %d, %v, want %d", name, got, err, tt.want)
		}
	}
}

func TestNoFitSaysWhy(t *testing.T) {
	glibc := wheel.Target{Python: "3.12", Arch: "amd64", Libc: "glibc 2.36"}
	musl := wheel.Target{Python: "3.12", Arch: "arm64", Libc: "musl 1.1"}
	for _, tt := range []struct {
		target wheel.Target
		files  []string
		want   string
	}{
		{glibc, nil, "no wheel fits Python 3.12 on linux/amd64 with glibc 2.36: the release has none"},
		{
			glibc, []string{"My_Pkg-1.0-cp311-cp311-manylinux2014_x86_64.whl", "My_Pkg-1.0-cp310-cp310-win_amd64.whl"},
			"no wheel of my-pkg 1.0 fits Python 3.12 on linux/amd64 with glibc 2.36: its wheels are for cp310-cp310, cp311-cp311",
		},
		{
			glibc, []string{"a-1-cp312-cp312-macosx_11_0_arm64.whl", "a-1-cp312-cp312-win_amd64.whl", "a-1-cp311-cp311-manylinux2014_x86_64.whl"},
			"no wheel of a 1 fits Python 3.12 on linux/amd64 with glibc 2.36: its wheels for this Python are for macosx_11_0_arm64, win_amd64",
		},
		{
			glibc, []string{"a-1-cp312-cp312-manylinux_2_39_x86_64.whl", "a-1-cp312-cp312-manylinux_2_38_x86_64.manylinux_2_40_x86_64.whl"},
			"no wheel of a 1 fits Python 3.12 on linux/amd64 with glibc 2.36: its wheels for this Python need glibc 2.38 or newer",
		},
		{
			musl, []string{"a-1-cp312-cp312-musllinux_1_2_aarch64.whl", "a-1-cp312-cp312-manylinux_2_17_aarch64.whl"},
			"no wheel of a 1 fits Python 3.12 on linux/arm64 with musl 1.1: its wheels for this Python need musl 1.2 or newer",
		},
		{
			musl, []string{"a-1-cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64.whl"},
			"no wheel of a 1 fits Python 3.12 on linux/arm64 with musl 1.1: its wheels for this Python are for manylinux2014_aarch64, manylinux_2_17_aarch64",
		},
		{
			glibc, []string{"a-1-cp31.cp32.cp33.cp34.cp35.cp36.cp37.cp38-none-any.whl"},
			"no wheel of a 1 fits Python 3.12 on linux/amd64 with glibc 2.36: its wheels are for cp31-none, cp32-none, cp33-none, cp34-none, cp35-none, cp36-none and 2 more",
		},
	} {
		_, err := wheel.Best(names(t, tt.files...), tt.target)
		if noFit := new(wheel.NoFitError); !errors.As(err, &noFit) || err.Error() != tt.want {
			t.Errorf("%q:\n got %v\nwant %s", tt.files, err, tt.want)
		}
	}
}
