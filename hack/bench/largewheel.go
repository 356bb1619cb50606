//go:build unix

package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/flate"

	"github.com/kubectl-kinetic/kinetic/hack/bench/depot"
)

const (
	largeMembers    = 4
	largeMemberSize = 512 << 20
)

// large: a wheel of 2 GB becomes a layer and is sent.
func (i *imageBench) large(ctx context.Context) error {
	w, err := i.writeLarge()
	if err != nil {
		return err
	}
	defer os.Remove(filepath.Join(i.Dir, w.File))
	i.Add(w)
	m := i.making(ctx, "")
	m.limit, m.locked = 2*w.Size, func() []depot.Wheel { return []depot.Wheel{w} }
	s, report, err := m.run()
	if err != nil {
		return err
	}
	i.row(fmt.Sprintf("image with a wheel of %s", mb(w.Size)), ms(s), "", traffic(report), "")
	i.row("memory for that", mb(s.rss), "", "", "<= 200 MB")
	return nil
}

// writeLarge writes a wheel of files that can't be compressed, but are.
func (i *imageBench) writeLarge() (depot.Wheel, error) {
	w := depot.Wheel{Project: "large", Version: "1", File: "large-1-py3-none-any.whl"}
	f, err := os.Create(filepath.Join(i.Dir, w.File))
	if err != nil {
		return w, err
	}
	defer f.Close()
	sum := sha256.New()
	archive := zip.NewWriter(io.MultiWriter(f, sum))
	archive.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
	for n := range largeMembers {
		to, err := archive.Create(fmt.Sprintf("large/weights%d.bin", n))
		if err != nil {
			return w, err
		}
		if _, err := io.CopyN(to, rand.NewChaCha8([32]byte{byte(n)}), largeMemberSize); err != nil {
			return w, err
		}
	}
	for _, small := range []struct{ name, text string }{
		{"METADATA", "Metadata-Version: 2.1\nName: large\nVersion: 1\n"},
		{"WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"RECORD", ""},
	} {
		to, err := archive.Create("large-1.dist-info/" + small.name)
		if err != nil {
			return w, err
		}
		if _, err := io.WriteString(to, small.text); err != nil {
			return w, err
		}
	}
	if err := archive.Close(); err != nil {
		return w, err
	}
	info, err := f.Stat()
	if err != nil {
		return w, err
	}
	w.Size, w.SHA256 = info.Size(), hex.EncodeToString(sum.Sum(nil))
	return w, f.Close()
}
