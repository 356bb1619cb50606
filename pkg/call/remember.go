package call

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// memory is what is remembered of one function of one file: that nothing is wrong
// with it. Starting a python takes longer than all else of a dry-run: 22 ms with the
// memory are 55 ms without it.
type memory struct {
	// Question names all that the answer depends on.
	Question string
	Finding  Finding
}

// question is the hash of all that the answer of a python depends on, and the path
// of the file that is run for it; "" where that can't be told.
func (q Query) question(python string, source []byte) (question, path string) {
	path, err := exec.LookPath(python)
	if err != nil {
		return "", ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", ""
	}
	all := fmt.Sprintf("%q %d %d %q %#v %t %q %q", path, info.Size(), info.ModTime().UnixNano(), q.Function, q.calls(), q.Here, checkScript, source)
	return hash(all), path
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

func (q Query) memoryFile() string {
	return filepath.Join(q.CacheDir, "call-"+hash(q.Path+":"+q.Function))
}

// recall is what was remembered. Nothing is, where the file is missing or damaged.
func (q Query) recall(question string) (Finding, bool) {
	if q.CacheDir == "" || question == "" {
		return Finding{}, false
	}
	data, err := os.ReadFile(q.memoryFile())
	if err != nil {
		return Finding{}, false
	}
	var m memory
	if err := json.Unmarshal(data, &m); err != nil || m.Question != question {
		return Finding{}, false
	}
	return m.Finding, true
}

// remember keeps a finding. One that can't be kept is made again next time. Which
// python a shim leads to depends on more than a question says: that matters where it
// runs the function too.
func (q Query) remember(question, path string, f Finding) {
	if q.CacheDir == "" || question == "" || f.Unchecked != "" || q.Here && f.Python != path {
		return
	}
	data, err := json.Marshal(memory{Question: question, Finding: f})
	if err == nil && os.MkdirAll(q.CacheDir, 0o700) == nil {
		_ = os.WriteFile(q.memoryFile(), data, 0o600)
	}
}
