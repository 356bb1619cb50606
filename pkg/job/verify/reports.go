package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Reports remembers on this machine what pods have reported to their clusters, for the time
// after their workloads are gone. What can't be written or read is not remembered.
type Reports struct {
	// Dir is the directory of the cache of this program, "" for none.
	Dir string
}

// reportAge is how long a report is remembered.
const reportAge = 180 * 24 * time.Hour

// report is a file of the cache.
type report struct {
	Store  string     `json:"store"`
	Job    string     `json:"job"`
	Pickle api.Pickle `json:"pickle"`
	// Chunks are what the pods of a map reported.
	Chunks []chunkReport `json:"chunks,omitempty"`
}

type chunkReport struct {
	Chunk int `json:"chunk"`
	api.ChunkHashes
}

// file returns the name of the file about a job. Nothing that is stored with the job is part of
// it.
func (r Reports) file(storeURL, id string) string {
	sum := sha256.Sum256([]byte(storeURL + "/" + id))
	return filepath.Join(r.dir(), hex.EncodeToString(sum[:16])+".json")
}

func (r Reports) dir() string { return filepath.Join(r.Dir, "results") }

// Remember keeps the pickle that a job's pod has reported. storeURL is the store that a command
// uses for such jobs.
func (r Reports) Remember(storeURL, id string, p api.Pickle) {
	if known, ok := r.Recall(storeURL, id); !ok || known != p {
		r.write(report{Store: storeURL, Job: id, Pickle: p})
	}
}

// Recall returns what Remember kept.
func (r Reports) Recall(storeURL, id string) (p api.Pickle, known bool) {
	found := r.read(storeURL, id)
	return found.Pickle, found.Pickle != (api.Pickle{})
}

// RememberMap keeps what the pods of a map have reported.
func (r Reports) RememberMap(storeURL, id string, hashes []api.ChunkHashes) {
	if slices.Equal(r.RecallMap(storeURL, id), hashes) {
		return
	}
	kept := report{Store: storeURL, Job: id}
	for _, h := range hashes {
		kept.Chunks = append(kept.Chunks, chunkReport{h.Chunk, h})
	}
	r.write(kept)
}

// RecallMap returns what RememberMap kept, nil for nothing.
func (r Reports) RecallMap(storeURL, id string) (hashes []api.ChunkHashes) {
	for _, c := range r.read(storeURL, id).Chunks {
		c.ChunkHashes.Chunk = c.Chunk
		hashes = append(hashes, c.ChunkHashes)
	}
	return hashes
}

// Forget drops what is remembered of an ID: a new job has it.
func (r Reports) Forget(storeURL, id string) {
	if r.Dir != "" {
		_ = os.Remove(r.file(storeURL, id))
	}
}

func (r Reports) write(kept report) {
	if r.Dir == "" {
		return
	}
	text, err := json.Marshal(kept)
	if err != nil || os.MkdirAll(r.dir(), 0o700) != nil {
		return
	}
	r.forget(time.Now().Add(-reportAge))
	temp, err := os.CreateTemp(r.dir(), "*.tmp") // only its owner can read it
	if err != nil {
		return
	}
	_, err = temp.Write(append(text, '\n'))
	if closed := temp.Close(); err != nil || closed != nil || os.Rename(temp.Name(), r.file(kept.Store, kept.Job)) != nil {
		_ = os.Remove(temp.Name())
	}
}

// read reads a file of the cache. What it can't read is empty.
func (r Reports) read(storeURL, id string) report {
	if r.Dir == "" {
		return report{}
	}
	text, err := os.ReadFile(r.file(storeURL, id))
	var found report
	if err != nil || json.Unmarshal(text, &found) != nil || found.Store != storeURL || found.Job != id {
		return report{}
	}
	return found
}

// forget removes what was written before a time.
func (r Reports) forget(before time.Time) {
	entries, err := os.ReadDir(r.dir())
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(r.dir(), e.Name()))
		}
	}
}
