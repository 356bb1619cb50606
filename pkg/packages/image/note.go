package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

type key struct {
	kind     string // "w" for one wheel, "s" for several that share a layer
	subject  string // the SHA-256 of the wheel, or of the list of them
	layout   wheel.Layout
	bytecode bool
}

func keyOf(wheels []wheel.Source, layout wheel.Layout, bytecode bool) key {
	if len(wheels) == 1 {
		return key{"w", wheels[0].SHA256, layout, bytecode}
	}
	h := sha256.New()
	for _, w := range wheels {
		fmt.Fprintln(h, w.SHA256)
	}
	return key{"s", hex.EncodeToString(h.Sum(nil)), layout, bytecode}
}

// tag returns the name of the note: "w-<sha256>-py3.12-1c".
func (k key) tag() string {
	tag := fmt.Sprintf("%s-%s-py%s-%d", k.kind, k.subject, k.layout.Python, wheel.Format)
	if k.bytecode {
		tag += "c"
	}
	return tag
}

// What a note says, beside the layer's digest and size. A note is an image of one layer, so
// that a registry keeps the layer as long as the note.
const (
	noteDiffID = "io.github.kubectl-kinetic.diff-id"
	notePrefix = "io.github.kubectl-kinetic.prefix"
	noteWheels = "io.github.kubectl-kinetic.wheels"
	noteBytes  = "io.github.kubectl-kinetic.wheel-bytes"
)

func newNote(k key, l layer, wheels []wheel.Source) (v1.Image, error) {
	var files []string
	for _, w := range wheels {
		files = append(files, w.File)
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(image, l)
	if err != nil {
		return nil, err
	}
	annotated, ok := mutate.Annotations(image, map[string]string{
		noteDiffID: l.names.DiffID.String(), notePrefix: k.layout.Prefix, noteWheels: strings.Join(files, " "), noteBytes: strconv.FormatInt(l.names.Wheels, 10),
	}).(v1.Image)
	if !ok {
		return nil, errors.New("unexpected type after annotating the image")
	}
	return annotated, nil
}

// parseNote returns what a note says, and whether it can be used for a layer with this key.
func parseNote(text []byte, k key) (names, bool) {
	var m v1.Manifest
	if err := json.Unmarshal(text, &m); err != nil || len(m.Layers) != 1 || m.Annotations[notePrefix] != k.layout.Prefix {
		return names{}, false
	}
	diffID, err := v1.NewHash(m.Annotations[noteDiffID])
	wheels, wrong := strconv.ParseInt(m.Annotations[noteBytes], 10, 64)
	n := names{m.Layers[0].Digest, diffID, m.Layers[0].Size, wheels}
	return n, err == nil && wrong == nil && n.Digest.Algorithm == "sha256" && diffID.Algorithm == "sha256" && n.Size > 0
}

// recall reads the note of a layer. One that cannot be used is as good as none: the layer is
// made again, and its note replaced. So is one that contradicts what this machine remembers.
func (m *maker) recall(ctx context.Context, k key) (layer, bool, error) {
	tag := m.repo.Tag(k.tag())
	d, err := m.pull.Get(ctx, tag)
	if missing(err) {
		return layer{}, false, nil
	}
	if err != nil {
		return layer{}, false, failed(ctx, "read the note "+k.tag()+" in", m.repo, err)
	}
	n, ok := parseNote(d.Manifest, k)
	if !ok {
		return layer{}, false, nil
	}
	known := names{}
	if m.memory.Load("note "+tag.Name(), &known) && known != n {
		why := "find out who can write to the repository"
		if k.bytecode { // which depends on the Python that made it
			why = "either another machine rebuilt the layer after it was lost, or someone replaced it: " + why
		}
		m.warn("%s names the layer %s, but this machine built %s: the tag is replaced; %s", tag.Name(), n.Digest, known.Digest, why)
		return layer{}, false, nil
	}
	if m.options.Mend {
		there, err := m.has(ctx, n)
		return layer{names: n}, there, err
	}
	return layer{names: n}, true, nil
}

// has reports whether the registry has a layer.
func (m *maker) has(ctx context.Context, n names) (bool, error) {
	l, err := m.pull.Layer(ctx, m.repo.Digest(n.Digest.String()))
	if err != nil {
		return false, err
	}
	there, err := partial.Exists(l)
	if err != nil && !missing(err) {
		return false, failed(ctx, "look for the layer "+n.Digest.String()+" in", m.repo, err)
	}
	return there, nil
}

// send sends a layer and its note. The layer is first: a registry refuses a note without.
func (m *maker) send(ctx context.Context, k key, l layer, wheels []wheel.Source) error {
	note, err := newNote(k, l, wheels)
	if err != nil {
		return err
	}
	config, err := partial.ConfigLayer(note)
	if err != nil {
		return err
	}
	uploads, group := errgroup.WithContext(ctx)
	for _, part := range []v1.Layer{l, config} {
		uploads.Go(func() error { return m.push.Upload(group, m.repo, part) })
	}
	if err := uploads.Wait(); err != nil {
		return failed(ctx, "sending the layer of "+describe(wheels)+" to", m.repo, err)
	}
	tag := m.repo.Tag(k.tag())
	if err := m.push.Put(ctx, tag, note); err != nil {
		return failed(ctx, "note the layer of "+describe(wheels)+" in", m.repo, err)
	}
	m.memory.Save("note "+tag.Name(), l.names)
	return nil
}

func describe(wheels []wheel.Source) string {
	if len(wheels) == 1 {
		return wheels[0].File
	}
	return fmt.Sprintf("%s and %d other wheels", wheels[0].File, len(wheels)-1)
}

// digestOf returns the digest of a tag, "" if there is no such tag.
func (m *maker) digestOf(ctx context.Context, tag name.Tag) (string, error) {
	d, err := m.pull.Head(ctx, tag)
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", failed(ctx, "look for "+tag.TagStr()+" in", m.repo, err)
	}
	return d.Digest.String(), nil
}
