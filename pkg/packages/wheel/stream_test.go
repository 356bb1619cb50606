package wheel_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// changing gives other bytes once it was told to.
type changing struct {
	*bytes.Reader
	changed bool
	at      int64
}

func (c *changing) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(p, at)
	if i := c.at - at; c.changed && i >= 0 && i < int64(n) {
		p[i] ^= 1
	}
	return n, err
}

func TestWheelThatChangesIsNoticed(t *testing.T) {
	const name = "noise-1-py3-none-any.whl"
	data := wheelOf(t, name, member{name: "noise.bin", data: noise(1, 200<<10)})
	c := &changing{Reader: bytes.NewReader(data), at: 100 << 10}
	w, err := wheel.Open(name, c, int64(len(data)), layout)
	if err != nil {
		t.Fatal(err)
	}
	l := layerOf(t, w)
	bytesOf(t, l)
	c.changed = true
	if _, err := l.WriteTo(io.Discard); err == nil || !strings.Contains(err.Error(), "has changed since") {
		t.Errorf("err = %v, want one about the change", err)
	}
}

func TestCloseStopsTheLayer(t *testing.T) {
	l := layerOf(t, openOf(t, "noise-1-py3-none-any.whl", member{name: "noise.bin", data: noise(1, 4<<20)}))
	r := l.Open()
	if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil { // returns only when nothing is written any more
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("err = %v", err)
	}
}

// watched calls read each time that it is read.
type watched struct {
	*bytes.Reader
	read func(at int64)
}

func (w watched) ReadAt(p []byte, at int64) (int, error) {
	w.read(at)
	return w.Reader.ReadAt(p, at)
}

func TestContextInterruptsConversion(t *testing.T) {
	const name = "noise-1-py3-none-any.whl"
	for what, content := range map[string]member{
		"copied":     {name: "noise.bin", data: noise(1, 8<<20)},
		"compressed": {name: "noise.bin", data: noise(1, 8<<20), zip: func(h *zip.FileHeader) { h.Method = zip.Store }},
	} {
		data := wheelOf(t, name, content)
		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(context.Background())
		last := int64(0)
		w, err := wheel.Open(name, watched{bytes.NewReader(data), func(at int64) {
			if last = at; at > 4<<20 && at < 5<<20 {
				cancel(stopped)
			}
		}}, int64(len(data)), layout)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wheel.NewLayer(ctx, w); !errors.Is(err, stopped) || last > 6<<20 {
			t.Errorf("%s: err = %v, read up to %d; want %v in the middle", what, err, last, stopped)
		}
	}
}

func TestLayerIsReadSeveralTimesAtOnce(t *testing.T) {
	fileName, members := demo()
	l := layerOf(t, openOf(t, fileName, members...))
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() { bytesOf(t, l) })
	}
	readers.Wait()
}

func TestErrorOfTheReceiverIsReturned(t *testing.T) {
	l := layerOf(t, openOf(t, "noise-1-py3-none-any.whl", member{name: "noise.bin", data: noise(1, 1<<20)}))
	refused := errors.New("refused")
	if _, err := l.WriteTo(receiver(func([]byte) (int, error) { return 0, refused })); !errors.Is(err, refused) {
		t.Errorf("err = %v, want %v", err, refused)
	}
}

type receiver func([]byte) (int, error)

func (r receiver) Write(p []byte) (int, error) { return r(p) }
