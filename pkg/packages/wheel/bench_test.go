package wheel_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// smallFiles is a wheel with 4,000 modules of 1 to 9 KB.
func smallFiles(b *testing.B) []byte {
	b.Helper()
	var members []member
	for i := range 4000 {
		members = append(members, member{name: fmt.Sprintf("pkg/sub%d/module%d.py", i%50, i), data: text(uint64(i), 1<<10+i%9<<10)})
	}
	return wheelOf(b, "small-1-py3-none-any.whl", members...)
}

// The ratio to Benchmark…Archived is what copying streams is worth.
func BenchmarkSmallFiles(b *testing.B) {
	data := smallFiles(b)
	for b.Loop() {
		l := layerOf(b, open(b, "small-1-py3-none-any.whl", data))
		report(b, l.Unpacked, l.Size)
	}
}

func BenchmarkSmallFilesArchived(b *testing.B) {
	data := smallFiles(b)
	for b.Loop() {
		archived(b, bytes.NewReader(data), int64(len(data)))
	}
}

const largeSize = 200 << 20

func BenchmarkLargeFile(b *testing.B) {
	f := largeWheel(b, largeSize, zip.Deflate)
	for b.Loop() {
		l := layerOf(b, openFile(b, f))
		report(b, l.Unpacked, l.Size)
	}
}

// The second pass, while the layer is sent.
func BenchmarkLargeFileAgain(b *testing.B) {
	l := layerOf(b, openFile(b, largeWheel(b, largeSize, zip.Deflate)))
	for b.Loop() {
		if _, err := l.WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
		report(b, l.Unpacked, l.Size)
	}
}

func BenchmarkLargeFileArchived(b *testing.B) {
	f := largeWheel(b, largeSize, zip.Deflate)
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		archived(b, f, info.Size())
	}
}

func BenchmarkCompile(b *testing.B) {
	interpreter, l := python(b)
	var members []member
	for i := range 300 {
		members = append(members, member{name: fmt.Sprintf("m%d.py", i), data: "def f(a, b=1):\n    return [a + b for _ in range(3)]\n" + fmt.Sprintf("x%d = {'a': (1, 2)}\n", i)})
	}
	w := openIn(b, l, "many-1-py3-none-any.whl", members...)
	for b.Loop() {
		if _, err := (wheel.Compiler{Python: interpreter}).Compile(context.Background(), w); err != nil {
			b.Fatal(err)
		}
	}
}

func report(b *testing.B, unpacked, size int64) {
	b.SetBytes(unpacked)
	b.ReportMetric(float64(size), "layer-B")
}

// archived makes a layer as it is usually made: unpack, archive/tar, gzip, both digests.
func archived(b *testing.B, r io.ReaderAt, size int64) {
	b.Helper()
	wheelFile, err := zip.NewReader(r, size)
	if err != nil {
		b.Fatal(err)
	}
	compressed := &counting{}
	z, err := gzip.NewWriterLevel(io.MultiWriter(sha256.New(), compressed), 6)
	if err != nil {
		b.Fatal(err)
	}
	plain := &counting{}
	t := tar.NewWriter(io.MultiWriter(z, sha256.New(), plain))
	for _, f := range wheelFile.File {
		if err := t.WriteHeader(&tar.Header{Name: f.Name, Size: int64(f.UncompressedSize64), Mode: 0o644}); err != nil {
			b.Fatal(err)
		}
		content, err := f.Open()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(t, content); err != nil {
			b.Fatal(err)
		}
	}
	for _, end := range []func() error{t.Close, z.Close} {
		if err := end(); err != nil {
			b.Fatal(err)
		}
	}
	report(b, plain.n, compressed.n)
}

type counting struct{ n int64 }

func (c *counting) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
