package wheel

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"strconv"
	"strings"
)

// A checksum is a hash as RECORD has it: "sha256=" and the digest in URL-safe base64,
// without padding.
type checksum string

// checksumOf returns the checksum of a digest of SHA-256.
func checksumOf(digest []byte) checksum {
	return checksum("sha256=" + base64.RawURLEncoding.EncodeToString(digest))
}

func checksumOfBytes(b []byte) checksum {
	digest := sha256.Sum256(b)
	return checksumOf(digest[:])
}

// newHash returns the hash function that a row's checksum needs: those of at least 256 bits
// that installers agree on.
func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "sha256":
		return sha256.New()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	}
	return nil
}

// parseChecksum checks a checksum, and removes padding.
func parseChecksum(field string) (checksum, error) {
	algorithm, digest, ok := strings.Cut(field, "=")
	if !ok {
		return "", fmt.Errorf("%q is not a hash such as sha256=…", field)
	}
	h := newHash(algorithm)
	if h == nil {
		return "", fmt.Errorf("the hash algorithm %q is not sha256, sha384 or sha512", algorithm)
	}
	digest = strings.TrimRight(digest, "=")
	if b, err := base64.RawURLEncoding.Strict().DecodeString(digest); err != nil || len(b) != h.Size() {
		return "", fmt.Errorf("%q is not the base64 of a %s digest", digest, algorithm)
	}
	return checksum(algorithm + "=" + digest), nil
}

// A verifier hashes content and compares it with a checksum.
type verifier struct {
	hash.Hash
	algorithm string
	want      checksum
}

func newVerifier(want checksum) verifier {
	algorithm, _, _ := strings.Cut(string(want), "=")
	return verifier{Hash: newHash(algorithm), algorithm: algorithm, want: want}
}

func (v verifier) check() error {
	got := checksum(v.algorithm + "=" + base64.RawURLEncoding.EncodeToString(v.Sum(nil)))
	if got != v.want {
		return &changedError{got, v.want}
	}
	return nil
}

// A changedError says that a file is not what RECORD states.
type changedError struct{ got, want checksum }

func (e *changedError) Error() string {
	return fmt.Sprintf("its hash is %s, and RECORD states %s", e.got, e.want)
}

// A row is what RECORD states of a file.
type row struct {
	sum  checksum // "" if it has none
	size int64    // -1 if it has none
}

// parseRecord reads a RECORD by the names of its files. odd are its mistakes: no installer looks at
// most of them, and the wheel as a whole has a hash of its own.
func parseRecord(text []byte) (rows map[string]row, odd []string) {
	rows = map[string]row{}
	lines := csv.NewReader(bytes.NewReader(text))
	lines.FieldsPerRecord = -1
	lines.ReuseRecord = true
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return rows, odd
		}
		if err != nil {
			return rows, append(odd, err.Error())
		}
		name, r, err := parseRow(fields)
		if err != nil {
			line, _ := lines.FieldPos(0)
			odd = append(odd, fmt.Sprintf("line %d: %q: %v", line, fields[0], err))
			r = unknown
		}
		if other, ok := rows[name]; ok && other != r {
			odd = append(odd, fmt.Sprintf("%q is listed twice, with different hashes or sizes", name))
			r = unknown
		}
		rows[name] = r
	}
}

// unknown is the row of a file of which RECORD states nothing.
var unknown = row{size: -1}

func parseRow(fields []string) (name string, r row, err error) {
	r, name = unknown, path.Clean(fields[0])
	if len(fields) > 3 {
		return name, r, fmt.Errorf("it has %d columns, not 3", len(fields))
	}
	if len(fields) > 1 && fields[1] != "" {
		if r.sum, err = parseChecksum(fields[1]); err != nil {
			return name, r, err
		}
	}
	if len(fields) > 2 && fields[2] != "" {
		if r.size, err = strconv.ParseInt(fields[2], 10, 64); err != nil || r.size < 0 {
			return name, r, fmt.Errorf("%q is not a size", fields[2])
		}
	}
	return name, r, nil
}

// formatRecord writes the RECORD of an installation. files are sorted.
func formatRecord(l Layout, files []file, own string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, f := range files {
		if err := w.Write([]string{l.recordPath(f.name), string(f.sum), strconv.FormatInt(f.size, 10)}); err != nil {
			return nil, err
		}
	}
	// It cannot have a hash of itself.
	err := w.Write([]string{l.recordPath(own), "", ""})
	w.Flush()
	return b.Bytes(), errors.Join(err, w.Error())
}
