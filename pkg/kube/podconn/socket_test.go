package podconn

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// A connection is given up whose other end says nothing, and no other.
func TestSilence(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	data := make([]byte, 1)
	if n, err := (answering{near, time.Millisecond}).Read(data); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("silence: got %d, %v", n, err)
	}
	go func() { _, _ = far.Write([]byte("ab")) }()
	for _, want := range []string{"a", "b"} {
		if _, err := (answering{near, time.Hour}).Read(data); string(data) != want || err != nil {
			t.Errorf("an answer: got %q, %v", data, err)
		}
	}
}
