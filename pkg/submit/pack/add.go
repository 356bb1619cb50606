package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Add adds small files that are not on disk, by their paths, which the plan must not have. They are one blob more: the
// others stay what they are.
func (p *Plan) Add(texts map[string]string) error {
	s := source{packed: true, stored: true}
	for _, rel := range slices.Sorted(maps.Keys(texts)) {
		size := int64(len(texts[rel]))
		p.Index.Files = append(p.Index.Files, api.IndexFile{Path: rel, Size: size, Blob: len(p.Index.Blobs), Offset: int64(len(s.blob))})
		s.members = append(s.members, len(p.files))
		p.files = append(p.files, file{rel: rel, stamp: stamp{Size: size}})
		s.blob = append(s.blob, texts[rel]...)
	}
	if len(s.members) == 0 {
		return nil
	}
	s.digest, s.size = sha256.Sum256(s.blob), int64(len(s.blob))
	p.sources = append(p.sources, s)
	p.Index.Blobs = append(p.Index.Blobs, api.IndexBlob{SHA256: hex.EncodeToString(s.digest[:]), Size: s.size})
	slices.SortFunc(p.Index.Files, func(a, b api.IndexFile) int { return strings.Compare(a.Path, b.Path) })
	p.Bytes += s.size
	p.StoredBytes += s.size - int64(len(p.IndexBlob))
	return p.seal()
}
