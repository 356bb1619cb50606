package pack

import (
	"io/fs"
	"testing"
)

func TestIsExecutable(t *testing.T) {
	tests := map[string]struct {
		mode fs.FileMode
		rel  string
		goos string
		want bool
	}{
		"Linux":                     {0o755, "a/run", "linux", true},
		"macOS":                     {0o755, "a/run", "darwin", true},
		"only for its owner":        {0o700, "a/run", "linux", true},
		"only for others":           {0o055, "a/run", "linux", false},
		"a script without the mode": {0o644, "run.sh", "linux", false},
		"Windows":                   {0o666, "a/run", "windows", false},
		"Windows, Python":           {0o666, "train.py", "windows", false},
		"Windows, a script":         {0o666, "a/run.sh", "windows", true},
		"Windows, a folder of them": {0o666, "a.sh/run", "windows", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := isExecutable(tc.mode, tc.rel, tc.goos); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
