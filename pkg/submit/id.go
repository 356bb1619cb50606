package submit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// maxID is the maximum length of a job ID: a pod's name, which is made from it, must
// still be a DNS label.
const maxID = 50

// fewChunks is how many chunks a map has at most whose pods leave room for an ID of maxID:
// the numbers of more have another digit.
const fewChunks = 10_000

// maxName is the maximum size of the name of a pickled function, in bytes: any text.
const maxName = 128

const (
	stampLayout = "20060102-150405"
	hexDigits   = 7
)

// Identity is what distinguishes two jobs of the same request.
type Identity struct {
	When time.Time
	// Hex is seven lower-case hex digits; if empty, they are made from the content.
	Hex string
}

// RandomIdentity returns the identity of a job to be started.
func RandomIdentity(now time.Time) Identity {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return Identity{When: now, Hex: hex.EncodeToString(b[:])[:hexDigits]}
}

// FixedIdentity returns the identity of a job that is only shown: the same input gives
// the same ID, with the beginning of 1970 as its time.
func FixedIdentity() Identity { return Identity{When: time.Unix(0, 0).UTC()} }

// Stamp returns the time in the form that IDs contain.
func (i Identity) Stamp() string { return i.When.UTC().Format(stampLayout) }

// longestID returns the maximum length of the ID of a job with that many chunks.
func longestID(chunks int) int {
	if chunks > fewChunks {
		return maxID - 1
	}
	return maxID
}

// newID returns {accelerator}-{name}-{YYYYMMDD-HHMMSS}-{7 hex}, in UTC, with the name cut
// so that the ID has at most that many characters.
func newID(a api.Accelerator, name string, id Identity, longest int) string {
	tail := "-" + id.Stamp() + "-" + id.Hex
	head := a.Short() + "-"
	return head + shorten(slug(name), longest-len(head)-len(tail)) + tail
}

// slug replaces everything but ASCII letters and digits by single dashes.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	if s := strings.TrimSuffix(b.String(), "-"); s != "" {
		return s
	}
	return "job"
}

// shorten cuts a name that is longer than limit and replaces its end by the beginning of
// its hash, so that names that differ only there stay different.
func shorten(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	suffix := sha256Hex([]byte(name))[:4]
	return strings.TrimRight(name[:limit-len(suffix)-1], "-") + "-" + suffix
}

// callName returns the name that a call gives its job: the function, the script without
// .py, the module's last segment, or the command's first word.
func callName(c api.Call) string {
	switch c.Kind {
	case api.CallFunction:
		return c.Function
	case api.CallPickle:
		return cutText(printable(c.Function), maxName)
	case api.CallModule:
		return c.Module[strings.LastIndex(c.Module, ".")+1:]
	case api.CallCommand:
		return lastElement(c.Args[0])
	default:
		return strings.TrimSuffix(lastElement(c.File), ".py")
	}
}

func lastElement(p string) string { return p[strings.LastIndex(p, "/")+1:] }

func sha256Hex(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
