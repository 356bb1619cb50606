// Package version determines the version of the product in a binary.
package version

import "runtime/debug"

// linked is set by the linker: -X github.com/kubectl-kinetic/kinetic/pkg/version.linked=v1.2.3
var linked string

// String returns the linked version, else the module version that `go install` records,
// else "devel" and the commit if it is known.
func String() string {
	if linked != "" {
		return linked
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return fromBuildInfo(info)
}

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
