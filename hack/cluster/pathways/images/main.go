// Command images pushes the two images of the stand-in for Pathways.
//
//	go run ./hack/cluster/pathways/images BINARY REPOSITORY VERSION…
//
// They are REPOSITORY/server and REPOSITORY/proxy_server, with a tag jax-VERSION for each version. Like
// Google's, they start the right program with whatever arguments a pod gives them.
package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "images: "+err.Error())
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("%d arguments: expected a binary, a repository and versions of JAX", len(args))
	}
	binary, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	for _, part := range []string{"server", "proxy_server"} {
		layer, err := newLayer(binary, part)
		if err != nil {
			return err
		}
		for _, version := range args[2:] {
			image, err := newImage(layer, part, version)
			if err != nil {
				return err
			}
			tag, err := name.NewTag(fmt.Sprintf("%s/%s:jax-%s", args[1], part, version))
			if err != nil {
				return err
			}
			if err := remote.Write(tag, image); err != nil {
				return fmt.Errorf("pushing %s: %w", tag, err)
			}
		}
	}
	return nil
}

// newLayer returns a layer with a binary alone, in the root directory.
func newLayer(binary []byte, part string) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: part, Mode: 0o755, Size: int64(len(binary)), Typeflag: tar.TypeReg}); err != nil {
		return nil, err
	}
	if _, err := w.Write(binary); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
}

// newImage returns the image of a part. Each version is another image.
func newImage(layer v1.Layer, part, version string) (v1.Image, error) {
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Author = "a stand-in for Pathways with JAX " + version
	config.Config.Entrypoint = []string{"/" + part}
	return mutate.ConfigFile(image, config)
}
