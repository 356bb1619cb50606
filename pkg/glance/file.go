package glance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

const (
	// validity is how long a listing may be used. A job is missed if it has begun and succeeded since
	// then, at least in part, and another was removed: the count is the same.
	validity = 10 * time.Minute
	// maxSize is how many bytes a file may have, enough for about 60,000 jobs.
	maxSize = 4 << 20
)

// File is a file that remembers the jobs of a namespace. The zero value remembers nothing. It has
// their IDs, when they were created, how they have ended, and which may be maps.
type File struct{ path string }

// FileOf returns the file for a namespace of a cluster. dir is the directory of the cache of this
// program, "" for none; cluster identifies the cluster.
func FileOf(dir, cluster, namespace string) File {
	if dir == "" || cluster == "" {
		return File{}
	}
	sum := sha256.Sum256([]byte(cluster + "\x00" + namespace))
	return File{filepath.Join(dir, "jobs", hex.EncodeToString(sum[:16]))}
}

// listing is the content of a File.
type listing struct {
	jobs   []job
	others int // Jobs of the namespace that are not of jobs
}

// Forget removes the file.
func (f File) Forget() {
	if f.path != "" {
		_ = os.Remove(f.path)
	}
}

// format is the first line of a file: its version, when it was written, the number of others, and
// the checksum of the following lines.
const format = "jobs 1 %d %d %08x\n"

// The letters for how a job has ended, and for one that may be a map.
var (
	letters = map[api.State]byte{"": '-', api.Succeeded: 's', api.Failed: 'f'}
	ends    = map[string]api.State{"-": "", "s": api.Succeeded, "f": api.Failed}
)

const mapLetter = "m"

// write replaces the file. What can't be written is not remembered.
func (f File) write(k listing) {
	var lines []byte
	for _, j := range k.jobs {
		lines = strconv.AppendInt(append(append(lines, j.id...), ' '), j.created.Unix(), 10)
		lines = append(lines, ' ', letters[j.state], ' ')
		if j.isMap {
			lines = append(lines, mapLetter...)
		}
		lines = append(lines, '\n')
	}
	head := fmt.Sprintf(format, time.Now().Unix(), k.others, crc32.ChecksumIEEE(lines))
	dir := filepath.Dir(f.path)
	if len(head)+len(lines) > maxSize || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	forgetOld(dir)
	temp, err := os.CreateTemp(dir, "*.tmp") // only its owner can read it
	if err != nil {
		return
	}
	_, err = temp.Write(append([]byte(head), lines...))
	if closed := temp.Close(); err != nil || closed != nil || os.Rename(temp.Name(), f.path) != nil {
		_ = os.Remove(temp.Name())
	}
}

// forgetOld removes the files that are no longer valid.
func forgetOld(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > validity {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

var errNoListing = errors.New("there is no listing that may be used")

// read reads the file. It fails if that is missing, old, damaged, or of another version.
func (f File) read() (listing, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return listing{}, err
	}
	if info.Size() > maxSize || !info.Mode().IsRegular() {
		return listing{}, errNoListing
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return listing{}, err
	}
	head, lines, _ := bytes.Cut(text, []byte("\n"))
	var written int64
	var others int
	var sum uint32
	if _, err := fmt.Sscanf(string(head)+"\n", format, &written, &others, &sum); err != nil || sum != crc32.ChecksumIEEE(lines) {
		return listing{}, errNoListing
	}
	if age := time.Since(time.Unix(written, 0)); age < 0 || age > validity {
		return listing{}, errNoListing
	}
	jobs, err := parse(string(lines))
	return listing{jobs, others}, err
}

// isID reports whether a text can be part of the name of a Job. Whatever else a file has must come neither
// into a selector nor onto a terminal.
func isID(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

func parse(lines string) ([]job, error) {
	jobs := make([]job, 0, strings.Count(lines, "\n"))
	for line := range strings.Lines(lines) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		at, rest, _ := strings.Cut(rest, " ")
		end, isMap, _ := strings.Cut(rest, " ")
		seconds, err := strconv.ParseInt(at, 10, 64)
		state, known := ends[end]
		if err != nil || !known || !isID(id) {
			return nil, errNoListing
		}
		jobs = append(jobs, job{id, state, isMap == mapLetter, time.Unix(seconds, 0)})
	}
	return jobs, nil
}
