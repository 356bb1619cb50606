package call

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// memory remembers that a function of a file has no errors. Starting a python takes a third
// of a dry-run: 31 ms with the memory, 48 ms without.
type memory struct {
	// Question is the hash of everything that the answer depends on.
	Question string
	// Path is the file that was asked: Finding.Python, or a shim that led to it.
	Path    string
	Finding Finding
}

// question returns the hash of everything that a python's answer depends on, and the path
// of the file that LookPath finds for it; "" if that fails.
func (q Query) question(python string, source []byte) (question, path string) {
	path, err := exec.LookPath(python)
	if err != nil {
		return "", ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", ""
	}
	all := fmt.Sprintf("%q %d %d %q %q %q", path, info.Size(), info.ModTime().UnixNano(), q.head(), checkScript, source)
	return hashOf(all), path
}

func hashOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:24] }

func (q Query) memoryFile() string {
	return filepath.Join(q.CacheDir, "call-"+hashOf(q.Path+":"+q.Function))
}

// memory returns what was remembered last; nothing if the file is missing or damaged.
func (q Query) memory() memory {
	var m memory
	if q.CacheDir == "" {
		return m
	}
	data, err := os.ReadFile(q.memoryFile())
	if err != nil || json.Unmarshal(data, &m) != nil {
		return memory{}
	}
	return m
}

// remember stores a finding. Errors don't matter: the check runs again next time. Which
// python a shim starts depends on more than the question includes, so with Local set it
// stores nothing for a shim.
func (q Query) remember(question, path string, f Finding) {
	if q.CacheDir == "" || question == "" || f.Unchecked != "" || q.Local && f.Python != path {
		return
	}
	data, err := json.Marshal(memory{Question: question, Path: path, Finding: f})
	if err == nil && os.MkdirAll(q.CacheDir, 0o700) == nil {
		_ = os.WriteFile(q.memoryFile(), data, 0o600)
	}
}
