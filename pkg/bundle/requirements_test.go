package bundle_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/bundle"
)

func TestRequiredBy(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"requirements.txt": "# torch\n-r torch.txt\nNumPy>=1.26  # pandas\nscikit_learn[all]==1\n",
		"pyproject.toml":   "[project]\ndependencies = [\n  \"jax[tpu]>=0.4\", 'pyyaml',\n]\n[tool.poetry.dependencies]\nflax = \"^0.8\"\n",
	} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for module, want := range map[string][2]string{
		"numpy":            {"NumPy", "requirements.txt"},
		"numpy.random":     {"NumPy", "requirements.txt"},
		"sklearn.ensemble": {"scikit_learn", "requirements.txt"},
		"jax":              {"jax", "pyproject.toml"},
		"yaml":             {"pyyaml", "pyproject.toml"},
		"flax":             {"flax", "pyproject.toml"},
		"torch":            {},
		"pandas":           {},
		"num":              {},
		"":                 {},
	} {
		if name, file := bundle.RequiredBy(root, module); name != want[0] || file != want[1] {
			t.Errorf("%s: got %q of %q, want %q", module, name, file, want)
		}
	}
	if name, file := bundle.RequiredBy(t.TempDir(), "numpy"); name != "" || file != "" {
		t.Errorf("without a file: got %q of %q", name, file)
	}
}
