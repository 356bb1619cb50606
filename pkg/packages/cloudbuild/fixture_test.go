package cloudbuild_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
)

var place = cloudbuild.PlaceOf("acme", "europe-west4", "research")

// unpack returns the files of a source. Nothing in it depends on when and by whom it is packed.
func unpack(t *testing.T, data []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.ModTime.UTC().Year() != 1980 || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s is of %s, and belongs to %d %s", header.Name, header.ModTime, header.Uid, header.Uname)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(text)
		if header.Linkname != "" {
			files[header.Name] = "→ " + header.Linkname
		}
	}
}
