package warm

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// kind is the type of a frame. The numbers are those of frames.py, which also says what a frame looks like.
type kind byte

const (
	kindCall   kind = 1
	kindAttach kind = 2
	kindStat   kind = 4
	kindCancel kind = 5
	kindBusy   kind = 7
	kindState  kind = 8
	kindOut    kind = 9
	kindValue  kind = 10
	kindEnd    kind = 12
)

const (
	magic        = "KWH1"
	nonceBytes   = 32
	headBytes    = 4 + 1 + 8 // length, kind, counter
	payloadLimit = 1 << 20
	keyLabel     = "kinetic warm 1\x00"
	wordsLabel   = "kinetic warm words 1\x00"
)

// ErrForged means that the other side doesn't know the host's key.
var ErrForged = errors.New("a frame has a wrong signature")

// channel signs the frames of a connection, and checks those of the host.
type channel struct {
	in            *bufio.Reader
	out           io.Writer
	reads, writes []byte // the keys
	read, written uint64 // how many frames
	greeting      []byte // to be sent before the first frame
}

// greet reads the host's greeting. The own one goes out with the first frame.
func greet(rw io.ReadWriter, secret []byte, podUID string) (*channel, error) {
	c := &channel{in: bufio.NewReader(rw), out: rw}
	theirs := make([]byte, len(magic)+nonceBytes)
	if _, err := io.ReadFull(c.in, theirs); err != nil {
		return nil, fmt.Errorf("waiting for its greeting: %w", err)
	}
	if string(theirs[:len(magic)]) != magic {
		return nil, errors.New("it does not greet as a warm host does")
	}
	ours := make([]byte, nonceBytes)
	rand.Read(ours) // never fails
	c.greeting = append([]byte(magic), ours...)
	root := sign(secret, []byte(keyLabel+podUID), theirs[len(magic):], ours)
	c.writes, c.reads = sign(root, []byte("client")), sign(root, []byte("holder"))
	return c, nil
}

func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

func (c *channel) send(k kind, payload []byte) error {
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	frame = append(frame, byte(k))
	frame = binary.BigEndian.AppendUint64(frame, c.written)
	frame = append(frame, payload...)
	frame = append(frame, sign(c.writes, frame)...)
	c.written++
	_, err := c.out.Write(append(c.greeting, frame...))
	c.greeting = nil
	return err
}

func (c *channel) receive() (kind, []byte, error) {
	head := make([]byte, headBytes)
	if _, err := io.ReadFull(c.in, head); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head)
	if length > payloadLimit {
		return 0, nil, fmt.Errorf("a frame of %d bytes", length)
	}
	rest := make([]byte, int(length)+sha256.Size)
	if _, err := io.ReadFull(c.in, rest); err != nil {
		return 0, nil, err
	}
	payload, mac := rest[:length], rest[length:]
	if !hmac.Equal(mac, sign(c.reads, head, payload)) || binary.BigEndian.Uint64(head[5:]) != c.read {
		return 0, nil, ErrForged
	}
	c.read++
	return kind(head[4]), payload, nil
}
