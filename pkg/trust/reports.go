package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
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
	if r.Dir == "" {
		return
	}
	if known, ok := r.Recall(storeURL, id); ok && known == p {
		return
	}
	text, err := json.Marshal(report{storeURL, id, p})
	if err != nil || os.MkdirAll(r.dir(), 0o700) != nil {
		return
	}
	r.forget(time.Now().Add(-reportAge))
	temp, err := os.CreateTemp(r.dir(), "*.tmp") // only its owner can read it
	if err != nil {
		return
	}
	_, err = temp.Write(append(text, '\n'))
	if closed := temp.Close(); err != nil || closed != nil || os.Rename(temp.Name(), r.file(storeURL, id)) != nil {
		_ = os.Remove(temp.Name())
	}
}

// Recall returns what Remember kept.
func (r Reports) Recall(storeURL, id string) (p api.Pickle, known bool) {
	if r.Dir == "" {
		return p, false
	}
	text, err := os.ReadFile(r.file(storeURL, id))
	var found report
	if err != nil || json.Unmarshal(text, &found) != nil || found.Store != storeURL || found.Job != id {
		return p, false
	}
	return found.Pickle, true
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
