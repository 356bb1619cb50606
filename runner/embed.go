// Package runner holds the Python program that runs a call, in a pod or as a
// local job.
package runner

import (
	"crypto/sha256"
	_ "embed" // remote_runner.py
	"encoding/hex"
)

// hashDigits is how much of its SHA-256 tells one version of the runner from
// another: enough for the name of a ConfigMap.
const hashDigits = 10

// Source is remote_runner.py. It must not be changed.
//
//go:embed remote_runner.py
var Source []byte

// Hash is the first ten hexadecimal digits of the SHA-256 of Source.
func Hash() string {
	sum := sha256.Sum256(Source)
	return hex.EncodeToString(sum[:])[:hashDigits]
}
