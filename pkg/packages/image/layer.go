package image

import (
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// layer implements v1.Layer for a layer whose digests are known. Its bytes are made each time
// they are sent. (A layer of a remote image would be downloaded to learn its DiffID.)
type layer struct {
	names names
	open  func() io.ReadCloser // nil if it is known to be in the registry
}

// names are what an image says of a layer.
type names struct {
	Digest v1.Hash `json:"digest"` // of the compressed layer
	DiffID v1.Hash `json:"diffID"` // of its tar
	Size   int64   `json:"size"`   // compressed, in bytes
	Wheels int64   `json:"wheels"` // what the files of its wheels have together, in bytes
}

func newLayer(l *wheel.Layer, wheels ...*wheel.Wheel) (layer, error) {
	digest, err := v1.NewHash(l.Digest)
	if err != nil {
		return layer{}, err
	}
	diffID, err := v1.NewHash(l.DiffID)
	n := names{digest, diffID, l.Size, 0}
	for _, w := range wheels {
		n.Wheels += w.Size
	}
	return layer{n, func() io.ReadCloser { return source{l.Open()} }}, err
}

func (l layer) Digest() (v1.Hash, error) { return l.names.Digest, nil }

func (l layer) DiffID() (v1.Hash, error) { return l.names.DiffID, nil }

func (l layer) Size() (int64, error) { return l.names.Size, nil }

// MediaType implements v1.Layer. In an image, that of the base counts.
func (l layer) MediaType() (types.MediaType, error) { return types.OCILayer, nil }

func (l layer) Compressed() (io.ReadCloser, error) {
	if l.open == nil {
		return nil, fmt.Errorf("the layer %s is only in the registry", l.names.Digest)
	}
	return l.open(), nil
}

func (l layer) Uncompressed() (io.ReadCloser, error) {
	compressed, err := l.Compressed()
	if err != nil {
		return nil, err
	}
	plain, err := gzip.NewReader(compressed)
	if err != nil {
		return nil, errors.Join(err, compressed.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{plain, compressed}, nil
}

// A source tells errors of making a layer from those of sending it.
type source struct{ io.ReadCloser }

func (s source) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		err = &sourceError{err}
	}
	return n, err
}
