package pack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// benchTree is 3,000 sources and 4 × 64 MB of random bytes.
func benchTree(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	sourceTree(b, root, 3000)
	for i := range 4 {
		randomFile(b, filepath.Join(root, "data", fmt.Sprintf("w%d.bin", i)), byte(i), 64<<20)
	}
	return root
}

func BenchmarkFirst(b *testing.B) {
	root := benchTree(b)
	for b.Loop() {
		upload(b, plan(b, pack.Options{Root: root, CacheDir: b.TempDir()}), openStore(b))
	}
}

func BenchmarkUnchanged(b *testing.B) {
	opts := pack.Options{Root: benchTree(b), CacheDir: b.TempDir()}
	s := openStore(b)
	upload(b, plan(b, opts), s)
	for b.Loop() {
		if stats := upload(b, plan(b, opts), s); stats.NewBytes != 0 {
			b.Fatalf("%+v, want nothing new", stats)
		}
	}
}

func BenchmarkOneLine(b *testing.B) {
	opts := pack.Options{Root: benchTree(b), CacheDir: b.TempDir()}
	s := openStore(b)
	upload(b, plan(b, opts), s)
	file := filepath.Join(opts.Root, "src", "m7", "f7.py")
	var written int64
	for i := 0; b.Loop(); i++ {
		if err := os.WriteFile(file, fmt.Appendf(nil, "x = %d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
		written = upload(b, plan(b, opts), s).NewBytes
	}
	b.ReportMetric(float64(written), "new-B")
}
