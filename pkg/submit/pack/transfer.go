package pack

import (
	"context"
	"io"
	"sync"

	"golang.org/x/sync/semaphore"
)

// The memory of an upload is limited as a whole. A blob that is read from a file, or kept by
// the plan, needs buffers on its way: 16 are sent at once. A pack that has to be made again
// is in memory twice meanwhile, as files and as a blob.
const (
	uploadMemory = 96 << 20
	sendMemory   = uploadMemory / 16
	packMemory   = 3 * packSize
)

// Stats says what an upload did. Sizes are bytes as stored.
type Stats struct {
	// Bytes is the size of the whole plan, NewBytes the part that the store lacked, in
	// NewBlobs objects.
	Bytes, NewBytes int64
	NewBlobs        int
}

// transfer is what uploads have in common: their memory, and what they have done.
type transfer struct {
	progress func(more int64)
	memory   *semaphore.Weighted

	mu    sync.Mutex // guards stats and calls of progress
	stats Stats
}

func newTransfer(bytes int64, progress func(more int64)) *transfer {
	return &transfer{progress: progress, memory: semaphore.NewWeighted(uploadMemory), stats: Stats{Bytes: bytes}}
}

// send calls put, which writes an object unless the store has it, and updates the counts. It
// waits until there is that much memory before the object is opened.
func (t *transfer) send(ctx context.Context, size, memory int64, open func() (io.ReadCloser, error),
	put func(open func() (io.ReadCloser, error)) (written bool, err error),
) error {
	var read int64
	var travels bool
	written, err := put(func() (io.ReadCloser, error) {
		if !travels { // a store may have to open the object again
			if err := t.memory.Acquire(ctx, memory); err != nil {
				return nil, err
			}
			travels = true
		}
		r, err := open()
		if err != nil {
			return nil, err
		}
		return &meter{ReadCloser: r, count: func(n int64) {
			read += n
			t.advance(n)
		}}, nil
	})
	if travels {
		t.memory.Release(memory)
	}
	if err != nil {
		return err
	}
	t.advance(size - read)
	if written {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.stats.NewBlobs++
		t.stats.NewBytes += size
	}
	return nil
}

// advance reports n more bytes as done. n is negative if a store had to start again.
func (t *transfer) advance(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progress != nil && n != 0 {
		t.progress(n)
	}
}

// meter counts the bytes that are read.
type meter struct {
	io.ReadCloser
	count func(int64)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.count(int64(n))
	return n, err
}
