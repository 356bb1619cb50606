package image_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// The media types of layers are those of the base: Docker's or OCI's, never both.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	oci := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	config, err := python(t, "").ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.RootFS, config.History = v1.RootFS{Type: "layers"}, nil
	if oci, err = mutate.ConfigFile(oci, config); err != nil {
		t.Fatal(err)
	}
	if oci, err = mutate.Append(oci, mutate.Addendum{Layer: layerOf(t, glibc), MediaType: types.OCILayer}); err != nil {
		t.Fatal(err)
	}
	for want, base := range map[types.MediaType]string{
		types.DockerLayer: e.Base,
		types.OCILayer:    s.put(t, "library/python:oci", oci),
	} {
		e.Base = base
		mustMake(t, client(t), s, e, image.Options{})
		m, err := s.image(t, tagOf(t, e)).Manifest()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range m.Layers {
			if l.MediaType != want {
				t.Errorf("a layer is %s, want %s", l.MediaType, want)
			}
		}
	}
}

// TestOverlaps: of a path that two wheels have, the last in the image's order is the one that counts.
func TestOverlaps(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := image.Env{Base: s.put(t, "library/python:3.12", python(t, "")), Arch: "amd64", Layout: layout, Wheels: []wheel.Source{
		x.add(t, "one", "1", file{name: "ns/__init__.py", data: "one = 1\n"}, file{name: "one.bin", data: noise(1, 9_000)}),
		x.add(t, "two", "1", file{name: "ns/__init__.py", data: "two = 2\n"}, file{name: "two.bin", data: noise(2, 10_000)}),
	}}
	mustMake(t, client(t), s, e, image.Options{})
	if got := files(t, s.image(t, tagOf(t, e)))[layout.Prefix+"/lib/python3.12/site-packages/ns/__init__.py"]; got != "one = 1\n" {
		t.Errorf("the file is %q", got)
	}
}

// A base with many layers leaves little room: the smallest wheels share a layer.
func TestSmallestWheelsShareALayer(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	var layers []v1.Layer
	for n := range 123 {
		layers = append(layers, layerOf(t, glibc, file{name: "etc/mark", data: string(rune('0' + n))}))
	}
	e := small(t, s, x)
	e.Base = s.put(t, "library/python:many", baseOf(t, "amd64", official("3.12.1"), layers...))
	e.Wheels = append(e.Wheels, x.module(t, "delta", "1.0", 1_000), x.module(t, "epsilon", "1.0", 2_000))
	mustMake(t, client(t), s, e, image.Options{})
	i := s.image(t, tagOf(t, e))
	m, err := i.Manifest()
	if err != nil || len(m.Layers) != 127 {
		t.Fatalf("%d layers, %v", len(m.Layers), err)
	}
	got := files(t, i)
	for _, w := range []string{"alpha", "beta", "gamma", "delta", "epsilon"} {
		if got["opt/kinetic/env/lib/python3.12/site-packages/"+w+"/__init__.py"] == "" {
			t.Errorf("%s is missing", w)
		}
	}
	e.Base = s.twin(t, e.Base)
	if made := mustMake(t, client(t), s, e, image.Options{}); made.Layers != 0 {
		t.Errorf("made %+v, want all layers known", made)
	}

	full := append(layers, layerOf(t, file{name: "a"}), layerOf(t, file{name: "b"}), layerOf(t, file{name: "c"}))
	e.Base = s.put(t, "library/python:full", baseOf(t, "amd64", official("3.12.1"), full...))
	_, err = client(t).Make(context.Background(), s.repo(), e, image.Options{})
	if bad := new(image.BaseError); !errors.As(err, &bad) || !strings.Contains(err.Error(), "it has 126 layers, and an image has at most 127") {
		t.Errorf("err = %v", err)
	}
}
