// Command bases brings a table of base images up to date: it asks their registries for the digest
// and the patch version of Python that each tag stands for now.
//
//	go run ./hack/bases pkg/packages/decide/bases.json
//
// The digest is that of the index, so it counts for all architectures. Nothing is written unless
// every image could be looked up.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/crane"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// row is a line of the table.
type row struct {
	Python, Image, Digest, Libc string
	Patch                       int
}

func main() {
	if err := update(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, "bases: "+err.Error())
		os.Exit(1)
	}
}

// update brings a table in a file up to date.
func update(file string) error {
	var table []row
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &table)
	}
	if err != nil {
		return fmt.Errorf("reading the table %s: %w", file, err)
	}
	for i := range table {
		if err := table[i].lookUp(); err != nil {
			return fmt.Errorf("looking up %s: %w", table[i].Image, err)
		}
	}
	return os.WriteFile(file, []byte(format(table)), 0o644)
}

// lookUp sets the digest and the patch version to what the image's tag stands for.
func (r *row) lookUp() (err error) {
	if r.Digest, err = crane.Digest(r.Image); err != nil {
		return err
	}
	patches := map[int]bool{}
	for _, arch := range []string{"amd64", "arm64"} { // of accelerators' machines
		text, err := crane.Config(r.Image, crane.WithPlatform(&v1.Platform{OS: "linux", Architecture: arch}))
		if err != nil {
			return fmt.Errorf("linux/%s: %w", arch, err)
		}
		var c v1.ConfigFile
		if err := json.Unmarshal(text, &c); err != nil || c.Architecture != arch {
			return fmt.Errorf("it has none for linux/%s, but one for %s", arch, c.Architecture)
		}
		_, version, _ := strings.Cut("\n"+strings.Join(c.Config.Env, "\n"), "\nPYTHON_VERSION=")
		if _, err := fmt.Sscanf(version, r.Python+".%d", &r.Patch); err != nil {
			return fmt.Errorf("its PYTHON_VERSION is %.10q, expected a release of %s", version, r.Python)
		}
		patches[r.Patch] = true
	}
	if len(patches) > 1 {
		return fmt.Errorf("its architectures have different versions of Python %s: try again later, while it is being published", r.Python)
	}
	return nil
}

// format returns the table with a line for each row.
func format(table []row) string {
	var lines []string
	for _, r := range table {
		lines = append(lines, fmt.Sprintf(`  {"python": %q, "patch": %d, "image": %q, "digest": %q, "libc": %q}`, r.Python, r.Patch, r.Image, r.Digest, r.Libc))
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
}
