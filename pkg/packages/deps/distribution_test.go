package deps

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDistributionOf(t *testing.T) {
	for text, want := range map[string]Distribution{
		"[project]\nname = \"A.b\"\nversion = \"1.0\"\n[project.scripts]\nz = \"a:z\"\ny = \"a:y\"\n[project.entry-points.\"g.h\"]\nk = \"a:k [x]\"\n": {
			Name: "A.b", Version: "1.0", EntryPoints: "[console_scripts]\ny = a:y\nz = a:z\n[g.h]\nk = a:k [x]\n"},
		"[tool.poetry]\nname = \"a\"\nversion = \"2\"\n[tool.poetry.scripts]\ns = \"a:s\"\nf = {reference = \"f.sh\", type = \"file\"}\n[tool.poetry.plugins.g]\nk = \"a:k\"\n": {
			Name: "a", Version: "2", EntryPoints: "[console_scripts]\ns = a:s\n[g]\nk = a:k\n"},
		"[project]\nname = \"a\"\nversion = \"1/2\"\n[project.entry-points.g]\nk = \"a:k\\n[console_scripts]\"\n": {Name: "a", EntryPoints: "[g]\n"},
		"[project]\nname = \"a\\nb\"\n": {},
		"[tool.ruff]\n":                 {},
		"[project":                      {},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "pyproject.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, DistributionOf(dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
