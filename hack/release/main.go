// Command release makes what goreleaser can't from what it left in a folder: krew's
// manifest, as krew-release-bot does for a release on GitHub, and wheels of the Python
// package with the binaries of each platform.
//
//	go run ./hack/release FOLDER     # writes FOLDER/krew/kinetic.yaml and FOLDER/*.whl
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/release FOLDER")
		os.Exit(2)
	}
	err := writeManifest("krew/kinetic.yaml", os.Args[1])
	if err == nil {
		err = writeWheels("runner", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// writeManifest fills a template in and writes the result into the folder krew of dist.
func writeManifest(source, dist string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	manifest, err := fill(string(text), dist)
	if err != nil {
		return fmt.Errorf("filling in %s: %w", source, err)
	}
	file := filepath.Join(dist, "krew", filepath.Base(source))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, manifest, 0o644)
}
