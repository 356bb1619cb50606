// Package runner holds the Python program that runs a call, in a pod or as a
// local job.
package runner

import (
	"crypto/sha256"
	_ "embed" // the files of the program
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// The files of the program. Beside File, which is run, lie those that only some
// jobs need: which is said where a job gets them.
const (
	File        = "remote_runner.py"
	GroupFile   = "remote_group.py"
	PeersFile   = "remote_peers.py"
	MapFile     = "remote_map.py"
	LocalFile   = "remote_local.py"
	DebugFile   = "remote_debug.py"
	AccountFile = "remote_credentials.py"
)

// hashDigits is how much of its SHA-256 tells one version of the runner from
// another: enough for the name of a ConfigMap.
const hashDigits = 10

// Source is File, all that most jobs on one host need. It must not be changed.
//
//go:embed remote_runner.py
var Source []byte

// Group is GroupFile. It must not be changed.
//
//go:embed remote_group.py
var Group []byte

// Peers is PeersFile. It must not be changed.
//
//go:embed remote_peers.py
var Peers []byte

// Map is MapFile. It must not be changed.
//
//go:embed remote_map.py
var Map []byte

// Local is LocalFile. It must not be changed.
//
//go:embed remote_local.py
var Local []byte

// Debug is DebugFile. It must not be changed.
//
//go:embed remote_debug.py
var Debug []byte

// Account is AccountFile. It must not be changed.
//
//go:embed remote_credentials.py
var Account []byte

// Hash is the first ten hexadecimal digits of a SHA-256 of files by name.
func Hash(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %d\n%s", name, len(files[name]), files[name])
	}
	return hex.EncodeToString(sum.Sum(nil))[:hashDigits]
}
