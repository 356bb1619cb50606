package cloudbuild

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// Source is what a build begins with.
type Source struct {
	// Name is the name of the object, which depends on nothing but the files.
	Name string
	// Data is a tar in gzip.
	Data []byte
	// Reused is what later builds take from this one.
	Reused Reused
}

// Reused is which stages of a Dockerfile are kept for later builds.
type Reused string

// What later builds can take from a build.
const (
	Nothing Reused = "nothing"
	Tools   Reused = "tools" // the stage of that name
	All     Reused = "all"   // every stage
)

// File is a file at the root of a source.
type File struct {
	Name string
	Data []byte
}

const dockerfileName = "Dockerfile"

// Custom returns the source of a Dockerfile that a user wrote. It can copy these files and
// nothing else.
func Custom(dockerfile []byte, files ...File) (Source, error) {
	return newSource(All, append([]File{{dockerfileName, dockerfile}}, files...))
}

// packed is the time of all files in a source, so that it has the same bytes whenever it is
// packed.
func packed() time.Time { return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) }

// newSource packs files. The order in which they come doesn't matter.
func newSource(reused Reused, files []File) (Source, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	var data bytes.Buffer
	zip := gzip.NewWriter(&data)
	archive := tar.NewWriter(zip)
	for i, f := range files {
		if !fs.ValidPath(f.Name) || f.Name == "." || i > 0 && files[i-1].Name == f.Name {
			return Source{}, fmt.Errorf("packing the source of a build: the file name %q is invalid, or is there twice", f.Name)
		}
		header := &tar.Header{Name: f.Name, Size: int64(len(f.Data)), Mode: 0o644, ModTime: packed(), Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return Source{}, fmt.Errorf("packing the source of a build: %s: %w", f.Name, err)
		}
		if _, err := archive.Write(f.Data); err != nil {
			return Source{}, err
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		return Source{}, err
	}
	return Source{Name: fmt.Sprintf("builds/%x.tar.gz", sha256.Sum256(data.Bytes())), Data: data.Bytes(), Reused: reused}, nil
}
