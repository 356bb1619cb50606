package version

import (
	"runtime/debug"
	"testing"
)

func TestFromBuildInfo(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	tests := map[string]struct {
		info debug.BuildInfo
		want string
	}{
		"go install of a release":    {debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, "v0.1.0"},
		"go build in a checkout":     {debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{revision}}, "devel-0123456789ab"},
		"neither version nor commit": {debug.BuildInfo{}, "devel"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fromBuildInfo(&tt.info); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLinkedVersionWins(t *testing.T) {
	linked = "v9.9.9"
	t.Cleanup(func() { linked = "" })
	if got := String(); got != "v9.9.9" {
		t.Errorf("String() = %q", got)
	}
}

func TestRead(t *testing.T) {
	build := &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}}}
	tests := map[string]struct {
		version, commit, time string // linked
		want                  Info
	}{
		"a build in a checkout":        {"", "", "", Info{Version: "v0.1.0", Commit: "abc", Time: "2026-01-02T03:04:05Z", Modified: true}},
		"with the version of Makefile": {"v0.1.0-1-gabc", "", "", Info{Version: "v0.1.0-1-gabc", Commit: "abc", Time: "2026-01-02T03:04:05Z", Modified: true}},
		"a release":                    {"v9.9.9", "def", "2027-01-02T03:04:05Z", Info{Version: "v9.9.9", Commit: "def", Time: "2027-01-02T03:04:05Z"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			linked, linkedCommit, linkedTime = tt.version, tt.commit, tt.time
			t.Cleanup(func() { linked, linkedCommit, linkedTime = "", "", "" })
			if got := read(build); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestIsRelease(t *testing.T) {
	for version, want := range map[string]bool{
		"v0.1.0": true, "v1.20.3": true, "v0.1.0-rc.1": true,
		"v0.1.0-5-g7fd66dd": false, "v0.1.0-dirty": false, "v0.1.1-snapshot-7fd66dd": false, "devel-0123456789ab": false, "devel": false,
		"v0.0.0-20261121123755-7fd66dd8a1b2+dirty": false, "v0.1.0+dirty": false,
	} {
		if got := IsRelease(version); got != want {
			t.Errorf("%s: got %t", version, got)
		}
	}
}
