package pack

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// encodeNames returns an index whose names JSON can hold, and the runner takes: as base64 if
// one of them isn't UTF-8, or has a backslash.
func encodeNames(index api.Index) api.Index {
	odd := func(name string) bool { return !utf8.ValidString(name) || strings.Contains(name, `\`) }
	if !slices.ContainsFunc(index.Files, func(f api.IndexFile) bool { return odd(f.Path) }) &&
		!slices.ContainsFunc(index.Links, func(l api.IndexLink) bool { return odd(l.Path) || odd(l.Target) }) &&
		!slices.ContainsFunc(index.Dirs, odd) {
		return index
	}
	encode := func(name string) string { return base64.StdEncoding.EncodeToString([]byte(name)) }
	index.Names = api.NamesBase64
	index.Files, index.Links, index.Dirs = slices.Clone(index.Files), slices.Clone(index.Links), slices.Clone(index.Dirs)
	for i := range index.Files {
		index.Files[i].Path = encode(index.Files[i].Path)
	}
	for i, l := range index.Links {
		index.Links[i] = api.IndexLink{Path: encode(l.Path), Target: encode(l.Target)}
	}
	for i, dir := range index.Dirs {
		index.Dirs[i] = encode(dir)
	}
	return index
}
