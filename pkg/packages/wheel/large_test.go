package wheel_test

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// code returns size bytes that compress to about a half, as machine code does. They are made
// while they are read.
func code(size int64) io.Reader { return io.LimitReader(&generator{}, size) }

type generator struct{ state uint64 }

func (g *generator) Read(p []byte) (int, error) {
	n := len(p) &^ 15
	for i := 0; i < n; i += 16 {
		g.state = g.state*6364136223846793005 + 1442695040888963407
		binary.LittleEndian.PutUint64(p[i:], g.state)
		binary.LittleEndian.PutUint64(p[i+8:], 0x48c3c9000000e8ff)
	}
	return n, nil
}

// largeWheel writes a wheel with one large member to a file.
func largeWheel(t testing.TB, size int64, method uint16) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "large.whl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	out := bufio.NewWriter(f)
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 1) })
	add := func(name string, method uint16, from io.Reader) string {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		if _, err := io.Copy(io.MultiWriter(w, h), bufio.NewReader(from)); err != nil {
			t.Fatal(err)
		}
		return "sha256=" + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
	}
	sum := add("large/lib.so", method, code(size))
	record := member{name: "large-1.dist-info/RECORD", data: fmt.Sprintf("large/lib.so,%s,%d\n", sum, size)}
	for _, m := range complete(t, "large-1.dist-info", []member{record}) {
		add(m.name, zip.Deflate, strings.NewReader(m.data))
	}
	for _, end := range []func() error{z.Close, out.Flush} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func openFile(t testing.TB, f *os.File) *wheel.Wheel {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	w, err := wheel.Open("large-1-py3-none-any.whl", f, info.Size(), layout)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestMemoryDoesNotGrowWithTheWheel counts all that is allocated, whether or not it is freed.
func TestMemoryDoesNotGrowWithTheWheel(t *testing.T) {
	const most = 4 << 20 // less than the wheel's bytes and what is always allocated
	for name, tt := range map[string]struct {
		size   int64
		method uint16
	}{"copied": {6 << 20, zip.Deflate}, "compressed": {3 << 20, zip.Store}} {
		t.Run(name, func(t *testing.T) {
			f := largeWheel(t, tt.size, tt.method)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w := openFile(t, f)
			l, err := wheel.NewLayer(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			written, err := l.WriteTo(io.Discard)
			if err != nil || written != l.Size {
				t.Errorf("wrote %d bytes, want %d: %v", written, l.Size, err)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > most {
				t.Errorf("%d bytes were allocated, want at most %d", used, most)
			}
			checkLarge(t, l, tt.size)
		})
	}
}

// checkLarge compares the large member with what it is made of.
func checkLarge(t *testing.T, l *wheel.Layer, size int64) {
	t.Helper()
	r := l.Open()
	defer r.Close()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if err != nil {
			t.Fatal(err)
		}
		if h.Name != site+"/large/lib.so" {
			continue
		}
		got, want := sha256.New(), sha256.New()
		_, err = io.Copy(got, files)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(want, bufio.NewReader(code(size))); err != nil {
			t.Fatal(err)
		}
		if h.Size != size || string(got.Sum(nil)) != string(want.Sum(nil)) {
			t.Errorf("the member has %d bytes, or others than it should", h.Size)
		}
		return
	}
}
