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
