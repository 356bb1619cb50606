// Command release fills in krew/kinetic.yaml for what goreleaser left in a folder, as
// krew-release-bot does for a release on GitHub:
//
//	go run ./hack/release FOLDER     # writes FOLDER/krew/kinetic.yaml
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
	if err := writeManifest("krew/kinetic.yaml", os.Args[1]); err != nil {
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
