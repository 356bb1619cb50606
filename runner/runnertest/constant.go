// Package runnertest lets tests compare what the Go side knows of the runner
// with the runner itself.
package runnertest

import (
	"io/fs"
	"path"
	"regexp"
	"testing"

	"github.com/kubectl-kinetic/kinetic/runner"
)

// Constant returns the expression that the runner assigns to a name at the top
// level of one of its modules, without a comment behind it. It fails the test
// unless there is exactly one.
func Constant(t *testing.T, name string) string {
	t.Helper()
	assignment := regexp.MustCompile(`(?m)^` + name + ` = (.*?)\s*(?:#.*)?$`)
	var found []string
	err := fs.WalkDir(runner.Sources, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".py" {
			return err
		}
		source, err := fs.ReadFile(runner.Sources, file)
		for _, m := range assignment.FindAllSubmatch(source, -1) {
			found = append(found, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Fatalf("the runner assigns %s %d times, want once: %q", name, len(found), found)
	}
	return found[0]
}
