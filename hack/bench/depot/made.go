//go:build unix

package depot

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/flate"
)

// MakeWheel writes a wheel with files of the given sizes in bytes, and adds it to the index. The files
// can't be compressed, but are; they depend on the project and the version alone.
func (d *Depot) MakeWheel(project, version string, sizes ...int64) (w Wheel, err error) {
	w = Wheel{Project: project, Version: version, File: project + "-" + version + "-py3-none-any.whl", Files: len(sizes) + 3}
	f, err := os.Create(filepath.Join(d.Dir, w.File))
	if err != nil {
		return w, err
	}
	defer f.Close()
	sum := sha256.New()
	archive := zip.NewWriter(io.MultiWriter(f, sum))
	archive.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
	info, record := project+"-"+version+".dist-info/", ""
	add := func(name string, content io.Reader) error {
		to, err := archive.Create(name)
		if err != nil {
			return err
		}
		hash := sha256.New()
		size, err := io.Copy(io.MultiWriter(to, hash), content)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(hash.Sum(nil)), size)
		return err
	}
	for n, size := range sizes {
		name := fmt.Sprintf("%s/weights%d.bin", project, n)
		random := rand.NewChaCha8(sha256.Sum256([]byte(version + " " + name)))
		if err := add(name, io.LimitReader(random, size)); err != nil {
			return w, err
		}
	}
	for _, small := range [][2]string{
		{"METADATA", "Metadata-Version: 2.1\nName: " + project + "\nVersion: " + version + "\n"},
		{"WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	} {
		if err := add(info+small[0], strings.NewReader(small[1])); err != nil {
			return w, err
		}
	}
	if err := add(info+"RECORD", strings.NewReader(record+info+"RECORD,,\n")); err != nil {
		return w, err
	}
	if err := archive.Close(); err != nil {
		return w, err
	}
	written, err := f.Stat()
	if err != nil {
		return w, err
	}
	w.Size, w.SHA256 = written.Size(), hex.EncodeToString(sum.Sum(nil))
	d.Add(w)
	return w, f.Close()
}
