package wheel_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// layout is that of most tests.
var layout = wheel.Layout{Prefix: "opt/kinetic/env", Python: "3.12"}

const site = "opt/kinetic/env/lib/python3.12/site-packages"

// A member is one of a wheel that a test writes.
type member struct {
	name string
	data string
	mode uint32 // with the type; 0 is a regular file that is not executable
	zip  func(*zip.FileHeader)

	// lie changes what the archive states of the member, and returns its compressed data.
	lie func(h *zip.FileHeader, compressed []byte) []byte
}

const regular = 0o100000

// wheelOf writes a wheel: the members, and WHEEL and RECORD unless they are among them.
func wheelOf(t testing.TB, fileName string, members ...member) []byte {
	t.Helper()
	name, err := wheel.ParseName(fileName)
	if err != nil {
		t.Fatal(err)
	}
	info := name.Distribution + "-" + name.Version + ".dist-info"
	return archive(t, complete(t, info, members))
}

// complete adds WHEEL, METADATA and RECORD unless they are there.
func complete(t testing.TB, info string, members []member) []member {
	t.Helper()
	has := map[string]bool{}
	for _, m := range members {
		has[m.name] = true
	}
	if !has[info+"/WHEEL"] {
		members = append(members, member{name: info + "/WHEEL", data: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"})
	}
	if !has[info+"/METADATA"] {
		stem := strings.Split(strings.TrimSuffix(info, ".dist-info"), "-")
		members = append(members, member{name: info + "/METADATA", data: "Metadata-Version: 2.1\nName: " + stem[0] + "\nVersion: " + stem[len(stem)-1] + "\n"})
	}
	if !has[info+"/RECORD"] {
		members = append(members, member{name: info + "/RECORD", data: recordOf(t, members, info)})
	}
	return members
}

func recordOf(t testing.TB, members []member, info string) string {
	t.Helper()
	var b strings.Builder
	w := csv.NewWriter(&b)
	for _, m := range members {
		if !strings.HasSuffix(m.name, "/") {
			if err := w.Write([]string{m.name, hashOf(m.data), fmt.Sprint(len(m.data))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Write([]string{info + "/RECORD", "", ""}); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	return b.String()
}

func hashOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// archive writes a zip. It is compressed with the library of go.mod, so that golden digests
// don't depend on the version of Go.
func archive(t testing.TB, members []member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) })
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, ExternalAttrs: (regular | 0o644) << 16, CreatorVersion: 3 << 8}
		if m.mode != 0 {
			h.ExternalAttrs = m.mode << 16
		}
		if m.zip != nil {
			m.zip(h)
		}
		create, data := z.CreateHeader, []byte(m.data)
		if m.lie != nil {
			create, data = z.CreateRaw, compress(t, data)
			h.CRC32, h.UncompressedSize64 = crc32.ChecksumIEEE([]byte(m.data)), uint64(len(m.data))
			data = m.lie(h, data)
			h.CompressedSize64 = uint64(len(data))
		}
		w, err := create(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compress(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 6)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, fileName string, data []byte) *wheel.Wheel {
	t.Helper()
	w, err := wheel.Open(fileName, bytes.NewReader(data), int64(len(data)), layout)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// openOf writes a wheel and opens it.
func openOf(t testing.TB, fileName string, members ...member) *wheel.Wheel {
	t.Helper()
	return open(t, fileName, wheelOf(t, fileName, members...))
}

func layerOf(t testing.TB, wheels ...*wheel.Wheel) *wheel.Layer {
	t.Helper()
	l, err := wheel.NewLayer(context.Background(), wheels...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// bytesOf returns a layer's bytes, after it has compared them with what is known of it.
func bytesOf(t testing.TB, l *wheel.Layer) []byte {
	t.Helper()
	r := l.Open()
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := sha256.Sum256(b); "sha256:"+hex.EncodeToString(got[:]) != l.Digest || int64(len(b)) != l.Size {
		t.Fatalf("the layer has %d bytes with the digest %x, want %d with %s", len(b), got, l.Size, l.Digest)
	}
	return b
}

// An unpacked file is one of a layer.
type unpacked struct {
	tar.Header
	data string
}

// unpack returns the files of a layer by name, and their names in the layer's order.
func unpack(t testing.TB, l *wheel.Layer) (map[string]unpacked, []string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(bytesOf(t, l)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(plain); "sha256:"+hex.EncodeToString(sum[:]) != l.DiffID || int64(len(plain)) != l.Unpacked {
		t.Fatalf("the tar has %d bytes with the digest %x, want %d with %s", len(plain), sum, l.Unpacked, l.DiffID)
	}
	files, order := map[string]unpacked{}, []string{}
	for r := tar.NewReader(bytes.NewReader(plain)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, order
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := files[h.Name]; twice {
			t.Fatalf("the layer has two entries %s", h.Name)
		}
		files[h.Name], order = unpacked{*h, string(data)}, append(order, h.Name)
	}
}

// text returns the same text of n bytes for a seed; it compresses well.
func text(seed uint64, n int) string {
	words := strings.Fields("import array class def from init jax keras layer model None numpy return self shape tensor zeros")
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(" \n.("[r.IntN(4)])
	}
	return b.String()[:n]
}

// noise returns the same n random bytes for a seed.
func noise(seed byte, n int) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(b) //nolint:errcheck // never fails
	return string(b)
}
