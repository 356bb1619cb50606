package image

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// Memory keeps what this machine found out, in the files of a directory: facts of base
// images, and which layers it made. The zero value keeps nothing.
type Memory struct{ Dir string }

type remembered struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// Load reads what was kept under a key. What cannot be read was not kept.
func (m Memory) Load(key string, value any) bool {
	if m.Dir == "" {
		return false
	}
	text, err := os.ReadFile(m.file(key))
	if err != nil {
		return false
	}
	var r remembered
	return json.Unmarshal(text, &r) == nil && r.Key == key && json.Unmarshal(r.Value, value) == nil
}

// Save keeps a value. What cannot be kept is found out again next time.
func (m Memory) Save(key string, value any) {
	if m.Dir == "" {
		return
	}
	text, err := json.Marshal(value)
	if err == nil {
		text, err = json.Marshal(remembered{key, text})
	}
	if err == nil {
		err = os.MkdirAll(m.Dir, 0o700)
	}
	if err != nil {
		return
	}
	// Others read it meanwhile.
	f, err := os.CreateTemp(m.Dir, "new-")
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if closed := f.Close(); err == nil && closed == nil {
		_ = os.Rename(f.Name(), m.file(key))
	}
}

// Delete forgets what was kept under a key.
func (m Memory) Delete(key string) {
	if m.Dir != "" {
		_ = os.Remove(m.file(key)) // what is not there needs nothing
	}
}

func (m Memory) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(m.Dir, "image-"+hex.EncodeToString(sum[:16])+".json")
}
