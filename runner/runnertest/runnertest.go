// Package runnertest lets tests compare what the Go code assumes about the runner with
// the runner itself.
package runnertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/runner"
)

// evaluate prints the value of the expression on its input as JSON. The expression can
// use the names in the runner's modules argv[1:].
const evaluate = `
import importlib, json, sys

names = {}
for module in sys.argv[1:]:
    names.update(vars(importlib.import_module("kinetic_runner." + module)))
print(json.dumps(eval(sys.stdin.read(), names)))
`

// Eval returns the value of a Python expression that can use the names in these modules
// of the runner, such as outcome or store.names. The value goes through JSON. Eval skips
// the test if there is no Python.
func Eval[T any](t *testing.T, expression string, modules ...string) T {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on PATH")
	}
	zip := filepath.Join(t.TempDir(), runner.File)
	if err := os.WriteFile(zip, runner.Zip(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{"-c", evaluate}, modules...)...)
	cmd.Env, cmd.Stdin = append(os.Environ(), "PYTHONPATH="+zip), strings.NewReader(expression)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	data, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", expression, err, problem.Bytes())
	}
	var value T
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Compare compares Go values with the values of Python expressions, as Eval returns them.
func Compare[T any](t *testing.T, want map[string]T, modules ...string) {
	t.Helper()
	var items []string
	for _, expression := range slices.Sorted(maps.Keys(want)) {
		items = append(items, fmt.Sprintf("%q: %s", expression, expression))
	}
	got := Eval[map[string]T](t, "{"+strings.Join(items, ", ")+"}", modules...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the runner has other values (-Go +Python):\n%s", diff)
	}
}

// Words returns all matches of the pattern in the sources of kinetic_runner, and in its contract, sorted, without
// duplicates.
func Words(t *testing.T, pattern string) []string {
	t.Helper()
	words := regexp.MustCompile(pattern)
	var found []string
	err := fs.WalkDir(runner.Sources, "kinetic_runner", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".py", ".json"}, path.Ext(file)) {
			return err
		}
		source, err := fs.ReadFile(runner.Sources, file)
		found = append(found, words.FindAllString(string(source), -1)...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return slices.Compact(found)
}
