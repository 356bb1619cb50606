package pack_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// write makes files below dir. A name that ends with "/" is a directory, one
// like "link -> target" a symlink.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		link, target, isLink := strings.Cut(name, " -> ")
		full := filepath.Join(dir, filepath.FromSlash(link))
		parent := filepath.Dir(full)
		if strings.HasSuffix(link, "/") {
			parent = full
		}
		if err := os.MkdirAll(parent, 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case isLink:
			err = os.Symlink(filepath.FromSlash(target), full)
		case parent != full:
			err = os.WriteFile(full, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func plan(t testing.TB, opts pack.Options) *pack.Plan {
	t.Helper()
	p, err := pack.New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func openStore(t testing.TB) store.Store {
	t.Helper()
	s, err := store.OpenFile("file://" + filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func upload(t testing.TB, p *pack.Plan, s store.Store) pack.Stats {
	t.Helper()
	stats, err := p.Upload(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// paths lists the files of a plan, and its directories with a "/".
func paths(p *pack.Plan) []string {
	var list []string
	for _, f := range p.Index.Files {
		list = append(list, f.Path)
	}
	for _, dir := range p.Index.Dirs {
		list = append(list, dir+"/")
	}
	return list
}

// blob reads a blob as stored, and checks its hash.
func blob(t testing.TB, s store.Store, sum string) []byte {
	t.Helper()
	r, err := s.Open(t.Context(), store.Blob(sum))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := sha256.Sum256(data); hex.EncodeToString(got[:]) != sum {
		t.Errorf("blob %s hashes to %x", sum, got)
	}
	return data
}

func gunzip(t testing.TB, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// unpack reads everything back from a store, knowing the index's hash alone.
func unpack(t testing.TB, s store.Store, sum string) (files map[string]string, index api.Index) {
	t.Helper()
	if err := json.Unmarshal(gunzip(t, blob(t, s, sum)), &index); err != nil {
		t.Fatal(err)
	}
	var blobs [][]byte
	for _, b := range index.Blobs {
		data := blob(t, s, b.SHA256)
		if int64(len(data)) != b.Size {
			t.Errorf("blob %s has %d bytes, the index says %d", b.SHA256, len(data), b.Size)
		}
		if b.Encoding == "gzip" {
			data = gunzip(t, data)
		}
		blobs = append(blobs, data)
	}
	files = map[string]string{}
	for _, f := range index.Files {
		if len(f.Parts) == 0 {
			files[f.Path] = string(blobs[f.Blob][f.Offset : f.Offset+f.Size])
			continue
		}
		var whole bytes.Buffer
		for _, part := range f.Parts {
			whole.Write(blobs[part])
		}
		files[f.Path] = whole.String()
	}
	return files, index
}

// sourceTree makes n small files that compress as sources do.
func sourceTree(t testing.TB, dir string, n int) {
	t.Helper()
	words := strings.Fields("def class self return import for in range if else None True loss model step batch params grad ( ) : = . ,")
	random := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{}
	for i := range n {
		var text strings.Builder
		for line := range 150 {
			fmt.Fprintf(&text, "    %s = %s(%s, %d)  # %s\n", words[random.IntN(len(words))],
				words[random.IntN(len(words))], words[random.IntN(len(words))], random.IntN(1000), words[line%len(words)])
		}
		files[fmt.Sprintf("src/m%d/f%d.py", i%100, i)] = text.String()
	}
	write(t, dir, files)
}

// randomFile makes a file of random bytes, which do not compress.
func randomFile(t testing.TB, file string, seed byte, size int64) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyN(f, rand.NewChaCha8([32]byte{seed}), size); err != nil {
		t.Fatal(err)
	}
}
