package call

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An older python here must not refuse what a newer one in the pod takes; a
// plain mistake is one in any version, and what runs here is read by this one.
func TestSyntaxOfNewerPythons(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 on PATH")
	}
	old := strings.TrimSpace(run(t, python, "-c", "import sys; print(sys.version_info < (3, 12))")) == "True"
	tests := map[string]struct {
		source string
		newer  bool // than 3.11
	}{
		"a type statement":      {"type Row = list[float]\ndef f(): pass\n", true},
		"a generic function":    {"def g[T](x: T) -> T: return x\ndef f(): pass\n", true},
		"quotes in an f-string": {"d = {'a': 1}\ns = f'{d['a']}'\ndef f(): pass\n", true},
		"a missing bracket":     {"def f():\n    return (\n", false},
		"a missing colon":       {"def f()\n    pass\n", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "m.py")
			if err := os.WriteFile(path, []byte(tt.source), 0o600); err != nil {
				t.Fatal(err)
			}
			found, err := Check(t.Context(), python, Query{Path: path, Name: "m.py", Function: "f"})
			switch {
			case !tt.newer && err == nil:
				t.Errorf("no error: %+v", found)
			case tt.newer && err != nil:
				t.Errorf("a false alarm: %v", err)
			case tt.newer && old && !strings.Contains(found.Unchecked, "a newer one may find none"):
				t.Errorf("nothing is said: %+v", found)
			}
			_, err = Check(t.Context(), python, Query{Path: path, Name: "m.py", Function: "f", Local: true})
			if wantErr := !tt.newer || old; (err != nil) != wantErr {
				t.Errorf("what will run here: error %v, want one: %v", err, wantErr)
			}
		})
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
