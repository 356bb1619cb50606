// Package runner holds the Python program that runs a call, in a pod or as a local job,
// and makes one zip of it for pods, which Python runs directly, as it does the folder of local
// jobs. The call can import the package kinetic from the same place.
package runner

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
)

// File is the name of the program wherever it runs: a zip in a pod, a folder on this machine.
// Python runs both, whatever their names.
const File = "remote_runner.py"

// mainFile is the file in the zip that Python runs.
const mainFile = "__main__.py"

// notice begins every source file. The one in mainFile stays.
const notice = "# Copyright 2026 The Kinetic for kubectl Authors.\n# SPDX-License-Identifier: Apache-2.0\n"

// level is the compressor's, the highest one: a build makes the zip, not a run.
const level = 9

// Sources is what the zip holds: __main__.py and the package kinetic_runner, which are the
// program, sitecustomize.py, which every Python of a job imports first, and the package kinetic for the code that it runs, without its client, which
// submits jobs. The patterns only match source files, not Python's caches.
//
//go:embed __main__.py sitecustomize.py kinetic_runner/*.py kinetic_runner/*/*.py kinetic_runner/contract/contract.json kinetic/*.py
var Sources embed.FS

// ready has the zip of jobs if hack/runnerzip ran before the build: making it takes milliseconds of each dry-run.
// A binary of a plain go build makes it in each run.
//
//go:embed all:ready
var ready embed.FS

// warmFolder is the part of the program that only warm hosts need.
const warmFolder = "kinetic_runner/warm"

// Zip returns the program of jobs as one zip, the same bytes on every platform. The caller must
// not change them. The first call takes a few milliseconds.
func Zip() []byte { return forJobs().zip }

// SHA256 returns the hash of Zip as 64 hexadecimal digits.
func SHA256() string { return forJobs().sha256 }

// WarmZip returns the program of warm hosts, which has all that Zip has. Nobody applies a warm host with
// kubectl, so the limit of Zip's size is not one of WarmZip's.
func WarmZip() []byte { return forWarmHosts().zip }

// WarmSHA256 returns the hash of WarmZip as 64 hexadecimal digits.
func WarmSHA256() string { return forWarmHosts().sha256 }

// SourcesSHA256 returns the HashOf all sources. It takes less than a millisecond.
func SourcesSHA256() string { return HashOf(Sources) }

// HashOf returns a hash of the names and contents of embedded sources, as 64 hexadecimal digits.
func HashOf(sources fs.FS) string {
	h, buffer := sha256.New(), make([]byte, 64<<10) // one for all files: new memory takes longer than hashing
	if err := fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file, err := sources.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", name, info.Size())
		_, err = io.CopyBuffer(h, file, buffer)
		return err
	}); err != nil {
		panic(fmt.Sprintf("reading the embedded runner: %v", err)) // it is part of the program, so this cannot happen
	}
	return hex.EncodeToString(h.Sum(nil))
}

type zipped struct {
	zip    []byte
	sha256 string
}

var (
	forJobs      = sync.OnceValue(func() zipped { return jobs(ready) })
	forWarmHosts = sync.OnceValue(func() zipped { return archive("") })
)

// jobs returns the zip of jobs, which may be among these files.
func jobs(ready fs.FS) zipped {
	if content, err := fs.ReadFile(ready, readyFile()); err == nil {
		return withHash(content)
	}
	return archive(warmFolder)
}

func archive(without string) zipped {
	content, err := zipOf(Sources, without)
	if err != nil {
		// Both the source and the target are in memory, so this cannot happen.
		panic(fmt.Sprintf("zipping the embedded runner: %v", err))
	}
	return withHash(content)
}

func withHash(content []byte) zipped {
	sum := sha256.Sum256(content)
	return zipped{zip: content, sha256: hex.EncodeToString(sum[:])}
}

// Ready returns the zip of jobs, and the path, with slashes and below this package's folder, where the next build embeds it.
func Ready() (path string, content []byte) { return readyFile(), archive(warmFolder).zip }

// readyFile is the path of the zip that belongs to these sources.
func readyFile() string { return "ready/" + SourcesSHA256() + ".zip" }

// zipOf makes a zip that only depends on names and contents: entries are sorted and have
// no time. It leaves out one folder.
func zipOf(files fs.FS, without string) ([]byte, error) {
	var content bytes.Buffer
	w := zip.NewWriter(&content)
	// Not the standard library's compressor, whose output may change with the version of
	// Go. One for all files: its large tables take longer to make than a small file.
	compressor, err := flate.NewWriter(io.Discard, level)
	if err != nil {
		return nil, err
	}
	if err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == without:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return addFile(w, compressor, files, name)
	}); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// indentation is the number of spaces of one level of Python's blocks. In the zip it is one.
const indentation = 4

// shorten returns a source file without what only its readers need: the notice, which one file keeps, the comments,
// the docstrings, wide indentation and spaces around operators, which nobody reads in a pod. They would take 65 KiB of the
// little room there is. Lines keep their numbers. It overwrites source: no line gets longer.
func shorten(name string, source []byte) []byte {
	if kept := []byte(notice); bytes.HasPrefix(source, kept) {
		source = source[len(notice):]
		if name == mainFile {
			return append(kept, shorten(name, source)...)
		}
		return append([]byte("\n\n"), shorten(name, source)...)
	}
	if path.Ext(name) != ".py" {
		return source
	}
	short := source[:0]
	const quotes = `"""`
	inText, inDocstring := false, false
	docstring := docstringAt{start: -1}
	for line := range bytes.Lines(source) {
		code := bytes.TrimLeft(line, " ")
		indent := line[:(len(line)-len(code))/indentation]
		odd := bytes.Count(line, []byte(quotes))%2 == 1
		switch {
		case inDocstring:
			inDocstring = !odd
			line = line[len(line)-1:]
		case inText:
			inText = !odd
		case bytes.HasPrefix(code, []byte(quotes)):
			inDocstring = odd
			docstring = docstringAt{start: len(short), indent: len(indent)}
			short = append(short, indent...)
			line = []byte("\"\"\n")
		case bytes.HasPrefix(code, []byte("#")), len(code) == 1:
			line = line[len(line)-1:]
		default:
			inText = odd
			short = docstring.cut(short, len(indent))
			docstring.start = -1
			short = append(short, indent...)
			line = tight(withoutComment(code))
		}
		short = append(short, line...)
	}
	return short
}

// docstringAt is where a docstring was that is written as "". start is -1 for none.
type docstringAt struct{ start, indent int }

// cut returns the text without the docstring if more of its block follows, with this indentation.
func (d docstringAt) cut(short []byte, indent int) []byte {
	if d.start < 0 || indent != d.indent {
		return short
	}
	return slices.Delete(short, d.start, d.start+d.indent+len(`""`))
}

// withoutComment returns a line of code without the comment at its end, if it is certainly one.
func withoutComment(line []byte) []byte {
	at := bytes.LastIndex(line, []byte("  # "))
	if at < 0 || bytes.ContainsAny(line[at:], `"'`) && !isWhole(line[:at]) {
		return line
	}
	line[at] = '\n'
	return line[:at+1]
}

// tight returns a line of code without the spaces around its operators and brackets. Strings stay as they are.
func tight(line []byte) []byte {
	if bytes.Contains(line, []byte(`"""`)) {
		return line
	}
	const operators = ",=!+-*/<>|&%:()[]{}"
	short := line[:0]
	quote := byte(0) // of the string around this byte, 0 outside of strings
	escaped := false
	for i, c := range line { // short is never longer than what was read
		before, after := byte('\n'), byte('\n')
		if len(short) > 0 {
			before = short[len(short)-1]
		}
		if i+1 < len(line) {
			after = line[i+1]
		}
		switch {
		case quote != 0:
			if c == quote && !escaped {
				quote = 0
			}
			escaped = c == '\\' && !escaped
		case c == '"', c == '\'':
			quote = c
		case c == ' ' && (strings.IndexByte(operators, before) >= 0 || strings.IndexByte(operators, after) >= 0):
			continue
		}
		short = append(short, c)
	}
	return short
}

// isWhole reports whether a string that begins in code certainly ends there.
func isWhole(code []byte) bool {
	return !bytes.ContainsAny(code, `'\`) && bytes.Count(code, []byte(`"`))%2 == 0
}

// addFile adds a file with its sizes before its content: behind it, they would take 16 bytes more.
func addFile(w *zip.Writer, compressor *flate.Writer, files fs.FS, name string) error {
	source, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	header := zip.FileHeader{Name: name, Method: zip.Deflate}
	source = shorten(name, source)
	content := source
	if name == mainFile {
		header.Method = zip.Store // a Python without zlib can still report what it lacks
	} else {
		var compressed bytes.Buffer
		compressor.Reset(&compressed)
		if _, err := compressor.Write(source); err != nil {
			return err
		}
		if err := compressor.Close(); err != nil {
			return err
		}
		content = compressed.Bytes()
	}
	header.SetMode(0o644)
	header.CRC32 = crc32.ChecksumIEEE(source)
	header.CompressedSize64, header.UncompressedSize64 = uint64(len(content)), uint64(len(source))
	entry, err := w.CreateRaw(&header)
	if err != nil {
		return err
	}
	_, err = entry.Write(content)
	return err
}
