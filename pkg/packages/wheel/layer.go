package wheel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Layer is a layer of an image: a tar in gzip. Its bytes are not stored: they are made from
// the wheels each time.
type Layer struct {
	Digest   string // of the compressed layer, "sha256:" and hex digits
	DiffID   string // of the tar, in the same form
	Size     int64  // compressed, in bytes
	Unpacked int64  // the size of the tar
	Files    int

	// Warnings are sentences about wheels whose RECORD is wrong.
	Warnings []string

	prefix string
	files  []file
}

// NewLayer converts wheels to one layer. It reads them once, checks each member against
// RECORD, and computes the digests. There is at least one, all are for the same layout, and no two are of one project. Where
// wheels have the same path, the later one's is taken, as pip would. The context's end interrupts it, and the error is
// then the context's.
func NewLayer(ctx context.Context, wheels ...*Wheel) (*Layer, error) {
	l, err := convert(ctx, wheels)
	if changed := new(changedError); errors.As(err, &changed) {
		if wheels, err = hashed(ctx, wheels); err == nil {
			l, err = convert(ctx, wheels)
		}
	}
	if err != nil && ctx.Err() == nil {
		err = advise(err)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range wheels {
		if len(w.odd) > 0 {
			l.Warnings = append(l.Warnings, w.warning())
		}
	}
	return l, nil
}

// convert makes a layer of wheels whose RECORD is believed.
func convert(ctx context.Context, wheels []*Wheel) (*Layer, error) {
	files, err := merge(wheels)
	if err != nil {
		return nil, err
	}
	return newLayer(ctx, wheels[0].layout, files)
}

// hashed returns wheels with the hashes that their members have, whatever RECORD states.
func hashed(ctx context.Context, wheels []*Wheel) ([]*Wheel, error) {
	inflater := newInflater(cause(ctx))
	all := make([]*Wheel, len(wheels))
	for i, w := range wheels {
		right := *w
		right.files, right.odd = slices.Clone(w.files), slices.Clone(w.odd)
		for j := range right.files {
			f := &right.files[j]
			if f.member == nil {
				continue
			}
			stated := newVerifier(f.sum)
			err := f.writeTo(stated, inflater)
			if changed := stated.check(); err == nil && changed != nil {
				right.odd = append(right.odd, fmt.Sprintf("%q: %v", f.origin(), changed))
				f.sum, err = f.hash(inflater)
			}
			if err != nil {
				return nil, fmt.Errorf("convert %s: %q: %w", f.wheel, f.origin(), err)
			}
		}
		all[i] = &right
	}
	return all, nil
}

// warning says that the wheel is not as it should be.
func (w *Wheel) warning() string {
	more := ""
	if n := len(w.odd) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("%s is installed as it is, but its RECORD is wrong: %s%s", w.Name.File, w.odd[0], more)
}

func newLayer(ctx context.Context, layout Layout, files []file) (*Layer, error) {
	files = append(files, layout.whiteouts(files)...)
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	if err := checkFolders(files); err != nil {
		return nil, err
	}
	t, err := newTarWriter(io.Discard, layout.Prefix, false, cause(ctx))
	if err != nil {
		return nil, err
	}
	if err := t.write(files); err != nil {
		return nil, err
	}
	return &Layer{
		Digest: digestOf(t.digest), DiffID: digestOf(t.diff), Size: t.size, Unpacked: t.unpacked,
		Files: len(files), prefix: layout.Prefix, files: files,
	}, nil
}

// WriteTo implements io.WriterTo: it makes the compressed layer. It fails at the end if the
// bytes of a wheel have changed since NewLayer. It may be called several times at once.
func (l *Layer) WriteTo(w io.Writer) (int64, error) {
	t, err := newTarWriter(w, l.prefix, true, never)
	if err != nil {
		return 0, err
	}
	if err := t.write(l.files); err != nil {
		return t.size, err
	}
	if digest := digestOf(t.digest); digest != l.Digest {
		return t.size, fmt.Errorf("the layer's digest was %s and is now %s: a wheel of it has changed since it was read", l.Digest, digest)
	}
	return t.size, nil
}

// Open returns the compressed layer, which is made while it is read. After Close, the wheels
// are not read any more.
func (l *Layer) Open() io.ReadCloser {
	r, w := io.Pipe()
	s := &stream{PipeReader: r, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		_, err := l.WriteTo(w)
		w.CloseWithError(err)
	}()
	return s
}

// A stream is a layer that is being made.
type stream struct {
	*io.PipeReader
	ended chan struct{}
}

// Close stops the making of the layer and waits for its end.
func (s *stream) Close() error {
	err := s.PipeReader.Close()
	<-s.ended
	return err
}
