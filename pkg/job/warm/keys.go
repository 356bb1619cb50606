package warm

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// keyAge is how long this machine keeps the key of a host after its last use. The host's Secret has it, too.
const keyAge = 7 * 24 * time.Hour

// Keys are the keys of the warm hosts that this machine has started, in files that only this account can read. Elsewhere, the
// Secret of the host has its key, for those who may read Secrets.
type Keys struct{ Dir string }

// Remember keeps the key of a host, and forgets old ones.
func (k Keys) Remember(host string, key []byte) error {
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(k.Dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > keyAge {
			_ = os.Remove(filepath.Join(k.Dir, f.Name()))
		}
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.Dir, host), []byte(hex.EncodeToString(key)), 0o600)
}

// record is what the store has of a call that a host was given. A pod that replaces a lost one runs the call again, if its host's key has
// signed it: others can write to the store, too.
type record struct {
	Call string `json:"call,omitempty"` // api.WarmCall, "" if nobody can run it again
	MAC  string `json:"mac,omitempty"`
}

// recordLabel keeps the signatures of records apart from others with the same key. ends.py has it, too.
const recordLabel = "kinetic warm call 1\x00"

// NewRecord returns the record, as JSON, of a call of a host with this key.
func NewRecord(call api.WarmCall, host string, key []byte) ([]byte, error) {
	var r record
	if len(call.Argv) > 0 {
		text, err := json.Marshal(call)
		if err != nil {
			return nil, err
		}
		r = record{Call: string(text), MAC: hex.EncodeToString(sign(key, []byte(recordLabel+host+"\x00"), text))}
	}
	return json.Marshal(r)
}

// Reached is a pod of a warm host that this machine has reached.
type Reached struct {
	// Server is the URL of the cluster's API server.
	Server string `json:"server"`
	// Host is its handle. Pod and UID are of the pod that takes its calls.
	Host api.Handle `json:"host"`
	Pod  string     `json:"pod"`
	UID  string     `json:"uid"`
}

// lastFile is the name of the file that has the pod of the last call. No ID has a dot.
const lastFile = "last.json"

// Last returns the pod that was reached last, zero if that is not known.
func (k Keys) Last() (r Reached) {
	if text, err := os.ReadFile(filepath.Join(k.Dir, lastFile)); err != nil || json.Unmarshal(text, &r) != nil {
		return Reached{}
	}
	return r
}

// SetLast keeps the pod that was reached last, for Last. Without it, the next call takes a little longer.
func (k Keys) SetLast(r Reached) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	path := filepath.Join(k.Dir, lastFile)
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
		return nil
	}
	if err := os.MkdirAll(k.Dir, 0o700); err != nil { // this machine may have started no host
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// Recall returns the key of a host, nil if it is not known here.
func (k Keys) Recall(host string) []byte {
	path := filepath.Join(k.Dir, filepath.Base(host))
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return nil
	}
	_ = os.Chtimes(path, time.Time{}, time.Now()) // so that Remember keeps it
	return key
}
