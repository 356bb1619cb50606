// Package version determines the version of the product in a binary.
package version

import (
	"cmp"
	"regexp"
	"runtime/debug"
)

// These are set by the linker for a release, which is built without the state of the
// repository: -X github.com/kubectl-kinetic/kinetic/pkg/internal/version.linked=v1.2.3. The Makefile
// sets the first one alone.
var linked, linkedCommit, linkedTime string

// Word is the argument with which every program of the plugin prints its version, and nothing else.
const Word = "__version"

// Reinstall repairs an installation in which a program is missing or has another version. krew upgrade is not enough: it leaves the
// newest version as it is.
const Reinstall = "kubectl krew uninstall kinetic && kubectl krew install kinetic"

// Info describes the source that a binary was built from.
type Info struct {
	// Version is as String returns it.
	Version string
	// Commit and Time are the commit and its time, "" if they are not known.
	Commit, Time string
	// Modified means that the source has changes that are not in the commit.
	Modified bool
}

// Read returns what is known about the source of this binary.
func Read() Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return read(info)
}

func read(build *debug.BuildInfo) Info {
	info := Info{Version: cmp.Or(linked, fromBuildInfo(build)), Commit: linkedCommit, Time: linkedTime}
	if info.Commit != "" {
		return info
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Commit = s.Value
		case "vcs.time":
			info.Time = s.Value
		case "vcs.modified":
			info.Modified = s.Value == "true"
		}
	}
	return info
}

// String returns the linked version, else the module version that `go install` records,
// else "devel" and the commit if it is known.
func String() string { return Read().Version }

func fromBuildInfo(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// IsRelease reports whether a version is that of a release or release candidate, not of a
// commit between two.
func IsRelease(version string) bool {
	return regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`).MatchString(version)
}
