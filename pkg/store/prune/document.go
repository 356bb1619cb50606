package prune

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// kind is a kind of document that names blobs: a JSON object, compressed or not, with a list of
// objects that have a member "sha256".
type kind struct {
	// what names it in messages, key is the member with the list.
	what, key string
	// newest is the last version that this program knows.
	newest int
	// of is the kind of the blobs in the list if they are documents, too.
	of *kind
}

const (
	setVersion         = 1
	environmentVersion = 1
)

func indexes() *kind { return &kind{what: "index", key: "blobs", newest: api.IndexVersion} }
func dataSets() *kind {
	return &kind{what: "data set", key: "shards", newest: setVersion, of: indexes()}
}
func environments() *kind {
	return &kind{what: "list of packages", key: "wheels", newest: environmentVersion}
}

// read calls name for every blob that a document lists. It reads no further than to the end of the
// list, and holds no more than one member of it: a document may have many megabytes.
func (k *kind) read(r io.Reader, name func(sha256 string)) error {
	plain, err := uncompressed(r)
	if err != nil {
		return err
	}
	d := json.NewDecoder(plain)
	if err := expect(d, json.Delim('{')); err != nil {
		return err
	}
	version, listed := 0, false
	for d.More() && (version == 0 || !listed) {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "version":
			err = d.Decode(&version)
		case k.key:
			listed = true
			err = eachSHA256(d, name)
		default:
			err = skip(d)
		}
		if err != nil {
			return err
		}
	}
	if version > k.newest {
		return &api.VersionError{Got: version, Max: k.newest}
	}
	if version < 1 {
		return fmt.Errorf("it is not a valid %s: it has no version", k.what)
	}
	if !listed { // else there may be more of it
		return expect(d, json.Delim('}'))
	}
	return nil
}

func uncompressed(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	magic := []byte{0x1f, 0x8b}
	if begin, err := buffered.Peek(len(magic)); err != nil || !bytes.Equal(begin, magic) {
		return buffered, nil // too short is not JSON either
	}
	return gzip.NewReader(buffered)
}

func expect(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && got != want {
		err = fmt.Errorf("expected %q, found %v", want, got)
	}
	return err
}

func eachSHA256(d *json.Decoder, name func(string)) error {
	open, err := d.Token()
	if err != nil || open == nil { // null is an empty list
		return err
	}
	if open != json.Delim('[') {
		return fmt.Errorf("expected a list, found %v", open)
	}
	for d.More() {
		var member struct {
			SHA256 string `json:"sha256"`
		}
		if err := d.Decode(&member); err != nil {
			return err
		}
		if _, ok := parseHash(member.SHA256); !ok {
			return fmt.Errorf("%q is not a SHA-256", member.SHA256)
		}
		name(member.SHA256)
	}
	return expect(d, json.Delim(']'))
}

// skip reads a value without keeping it.
func skip(d *json.Decoder) error {
	depth := 0
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
