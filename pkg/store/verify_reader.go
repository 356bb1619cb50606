package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
)

// verifyReader reads bytes whose SHA-256 and length are known beforehand. If they differ, it
// returns ErrMismatch instead of io.EOF.
type verifyReader struct {
	r      io.Reader
	sha256 string // "" if only the length was promised
	size   int64

	hash hash.Hash
	crc  uint32 // CRC-32C of what was read
	n    int64
}

func newVerifyReader(r io.Reader, sum string, size int64) *verifyReader {
	// One byte more than promised shows that there are more, however many follow.
	return &verifyReader{r: io.LimitReader(r, size+1), sha256: sum, size: size, hash: sha256.New()}
}

func (p *verifyReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.hash.Write(b[:n])
	p.crc = crc32.Update(p.crc, crc32.MakeTable(crc32.Castagnoli), b[:n])
	p.n += int64(n)
	if errors.Is(err, io.EOF) {
		err = p.check()
	}
	return n, err
}

// check returns io.EOF if everything is as promised.
func (p *verifyReader) check() error {
	if got := hex.EncodeToString(p.hash.Sum(nil)); p.sha256 != "" && got != p.sha256 {
		return fmt.Errorf("%w: they hash to %s", ErrMismatch, got)
	}
	if p.n != p.size {
		return fmt.Errorf("%w: expected %d bytes", ErrMismatch, p.size)
	}
	return io.EOF
}
