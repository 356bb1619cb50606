package pack_test

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// A job whose own file is left out would fail in its pod, when everything is uploaded.
func TestTheFileThatRunsIsInThePackage(t *testing.T) {
	for name, test := range map[string]struct {
		entry, rules string
		want         string // "" for no error
	}{
		"no rules":                      {entry: "train.py"},
		"no file":                       {rules: "*"},
		"other files":                   {entry: "train.py", rules: "*\n!train.py"},
		"its name":                      {entry: "train.py", rules: "# scripts\n\ntrain.py\n", want: "train.py is excluded by .kineticignore (line 3): remove or change that line"},
		"the last line that says so":    {entry: "src/job.py", rules: "*.py\n!src/job.py\nsrc/*.py", want: "src/job.py is excluded by .kineticignore (line 3): remove or change that line"},
		"its directory":                 {entry: "src/job.py", rules: "src/\n!src/job.py", want: "src/job.py is excluded by .kineticignore (line 1, which excludes all of src): remove or change that line"},
		"by default":                    {entry: "venv/job.py", want: "venv/job.py is not packaged, because venv is excluded by default: move the file, or set KINETIC_NO_DEFAULT_EXCLUDES=1"},
		"always":                        {entry: "__pycache__/job.py", want: "__pycache__/job.py is not packaged, because __pycache__ is always excluded: move the file"},
		"a virtual environment":         {entry: "env/job.py", want: "env/job.py is not packaged, because env is a virtual environment: move the file, or set KINETIC_NO_DEFAULT_EXCLUDES=1"},
		"one of conda":                  {entry: "conda/job.py", want: "conda/job.py is not packaged, because conda is a virtual environment: move the file, or set KINETIC_NO_DEFAULT_EXCLUDES=1"},
		"an output directory":           {entry: "out/job.py", want: "out/job.py is not packaged, because this run excludes its directory or packages it under another name: move the file"},
		"another name of its directory": {entry: "link/job.py", want: "link/job.py is not packaged, because this run excludes its directory or packages it under another name: move the file"},
		"another case, as on a Mac":     {entry: "Train.py", want: "Train.py is packaged as train.py, its name on disk, and pods distinguish upper and lower case: type it like that"},
		"another case of another file":  {entry: "Job.py", rules: "Job.py", want: "Job.py is excluded by .kineticignore (line 1): remove or change that line"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeFiles(t, root, "train.py", "Job.py", "job.py", "src/job.py", "venv/job.py", "__pycache__/job.py", "env/pyvenv.cfg", "env/job.py", "conda/conda-meta/history", "conda/job.py", "out/job.py", "fetched/.kinetic-outputs", "fetched/job.py", "link -> src")
			ignoreFile(t, root, test.rules)
			opts := pack.PlanOptions{Entry: test.entry, Options: pack.Options{Exclude: []string{filepath.Join(root, "out")}}}
			_, err := pack.PlanProject(t.Context(), pack.Layout{SourceTree: api.SourceTree{Root: root}}, opts)
			if got := message(err); got != test.want {
				t.Errorf("error %q, want %q", got, test.want)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
