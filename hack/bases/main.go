// Command bases brings a table of base images up to date: it asks their registries for the digest
// and the patch version of Python that each tag stands for now.
//
//	go run ./hack/bases pkg/environment/bases.json
//
// The digest is that of the index, so it counts for all architectures. Nothing is written unless
// every image could be looked up.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// row is a line of the table.
type row struct {
	Python string `json:"python"`
	Patch  int    `json:"patch"`
	Image  string `json:"image"`
	Digest string `json:"digest"`
	Libc   string `json:"libc"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bases: "+err.Error())
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: expected the file with the table", len(args))
	}
	file := args[0]
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	table, err := parse(file, text)
	if err != nil {
		return err
	}
	for i := range table {
		was := table[i]
		if err := table[i].update(ctx); err != nil {
			return fmt.Errorf("looking up %s: %w", was.Image, err)
		}
		if table[i] == was {
			fmt.Fprintf(out, "%s: unchanged\n", was.Image)
			continue
		}
		fmt.Fprintf(out, "%s: Python %s.%d, %s\n", was.Image, was.Python, table[i].Patch, table[i].Digest)
	}
	written, err := format(table)
	if err != nil || bytes.Equal(written, text) {
		return err
	}
	return os.WriteFile(file, written, 0o644)
}

func parse(file string, text []byte) (table []row, err error) {
	if err := json.Unmarshal(text, &table); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return table, nil
}

// architectures are those of accelerators' machines.
var architectures = []string{"amd64", "arm64"}

// update sets the digest and the patch version to what the image's tag stands for.
func (r *row) update(ctx context.Context) error {
	ref, err := name.ParseReference(r.Image)
	if err != nil {
		return err
	}
	d, err := remote.Get(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return err
	}
	if !d.MediaType.IsIndex() {
		return fmt.Errorf("it is an image for one architecture (%s): name an index", d.MediaType)
	}
	index, err := d.ImageIndex()
	if err != nil {
		return err
	}
	patches := map[int]bool{}
	for _, arch := range architectures {
		patch, err := r.patchOf(index, arch)
		if err != nil {
			return err
		}
		patches[patch] = true
		r.Patch = patch
	}
	if len(patches) > 1 {
		return fmt.Errorf("its architectures have different versions of Python %s: try again later, while it is being published", r.Python)
	}
	r.Digest = d.Digest.String()
	return nil
}

// patchOf returns the patch version of Python that the image of an architecture has.
func (r *row) patchOf(index v1.ImageIndex, arch string) (int, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(manifest.Manifests, func(m v1.Descriptor) bool {
		return m.Platform != nil && m.Platform.OS == "linux" && m.Platform.Architecture == arch
	})
	if i < 0 {
		return 0, fmt.Errorf("it has none for linux/%s", arch)
	}
	image, err := index.Image(manifest.Manifests[i].Digest)
	if err != nil {
		return 0, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return 0, err
	}
	for _, variable := range config.Config.Env {
		version, found := strings.CutPrefix(variable, "PYTHON_VERSION=")
		if !found {
			continue
		}
		patch, err := strconv.Atoi(strings.TrimPrefix(version, r.Python+"."))
		if err != nil || !strings.HasPrefix(version, r.Python+".") {
			return 0, fmt.Errorf("it has Python %s, expected a release of %s", version, r.Python)
		}
		return patch, nil
	}
	return 0, fmt.Errorf("its configuration has no PYTHON_VERSION: is it one of Docker's images of Python?")
}

// format returns the table with a line for each row.
func format(table []row) ([]byte, error) {
	spaced := strings.NewReplacer(`":`, `": `, `,"`, `, "`)
	var lines []string
	for _, r := range table {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		lines = append(lines, "  "+spaced.Replace(string(text)))
	}
	return []byte("[\n" + strings.Join(lines, ",\n") + "\n]\n"), nil
}
