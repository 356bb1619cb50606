// Command runnerzip writes the zip of the runner that the next build embeds. It runs in the root of the repository.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/runner"
)

func main() {
	if err := write("runner"); err != nil {
		fmt.Fprintln(os.Stderr, "runnerzip: "+err.Error())
		os.Exit(1)
	}
}

// write writes the zip below the folder of the package runner, and removes those of other sources.
func write(folder string) error {
	name, content := runner.Ready()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if has, err := os.ReadFile(path); err == nil && bytes.Equal(has, content) {
		return nil // the same file need not be built again
	}
	others, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.zip"))
	if err != nil {
		return err
	}
	for _, other := range others {
		if err := os.Remove(other); err != nil {
			return err
		}
	}
	part := path + ".part" // no build embeds half a file under the name of a whole one
	if err := os.WriteFile(part, content, 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}
