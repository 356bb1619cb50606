package call

import (
	"io"
	"os"
)

// Open opens the payload for its upload. progress is called with how many more bytes were
// read, a negative number if an upload starts over.
func (p Payload) Open(progress func(more int64)) func() (io.ReadCloser, error) {
	var read int64
	return func() (io.ReadCloser, error) {
		file, err := os.Open(p.Path)
		if err != nil {
			return nil, err
		}
		progress(-read)
		read = 0
		return &meter{file, func(n int) {
			read += int64(n)
			progress(int64(n))
		}}, nil
	}
}

// meter counts the bytes that are read.
type meter struct {
	io.ReadCloser
	count func(n int)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.count(n)
	return n, err
}
