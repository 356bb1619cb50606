package platform

import "testing"

func TestPythonOn(t *testing.T) {
	for goos, want := range map[string]string{"linux": "python3", "darwin": "python3", "windows": "python"} {
		if got := pythonOn(goos); got != want {
			t.Errorf("%s: got %q, want %q", goos, got, want)
		}
	}
}

// TestPythonOfCaller: the calling program can be a Python that PATH does not lead to.
func TestPythonOfCaller(t *testing.T) {
	t.Setenv(CallerPython, "/venv/bin/python")
	if got := Python(); got != "/venv/bin/python" {
		t.Errorf("got %q", got)
	}
}
