package platform

import "testing"

func TestPythonOn(t *testing.T) {
	for goos, want := range map[string]string{"linux": "python3", "darwin": "python3", "windows": "python"} {
		if got := pythonOn(goos); got != want {
			t.Errorf("%s: got %q, want %q", goos, got, want)
		}
	}
}
