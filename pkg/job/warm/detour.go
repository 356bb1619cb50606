package warm

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

const (
	// firstLook and longestLook are the pauses between two looks for what the host has sent.
	firstLook, longestLook = 100 * time.Millisecond, time.Second
	// aliveEvery is how often an object shows the host that this client is alive. The host deletes each within seconds.
	aliveEvery = 20 * time.Second
	// partingTime is how long Close may take.
	partingTime = 5 * time.Second
	// pieceBytes is the most that is written into an object at once.
	pieceBytes = 1 << 20
)

// detour is a connection to a pod of a warm host through the store, for users without permission to forward ports. The other side is
// runner/kinetic_runner/warm/inbox.py, which describes the objects.
type detour struct {
	store  store.Store
	prefix string // of the names of the objects
	ctx    context.Context
	stop   context.CancelFunc

	sending sync.Mutex
	sent    int // objects

	received int // objects
	rest     []byte
	alive    time.Time // when an object was last written to show that this client is alive
	sign     string    // that object
	once     sync.Once
}

// ConnectThroughStore is Connect for a pod, by its number, of a host that has an inbox in its store. The connection closes the store.
func ConnectThroughStore(ctx context.Context, s store.Store, host string, number int, secret []byte, podUID string) (*Conn, error) {
	way, err := openDetour(ctx, s, store.WarmInbox(host, number))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = way.Close() })
	c, err := Connect(way, secret, podUID)
	stop()
	if err != nil {
		return nil, fmt.Errorf("connecting through the store %s: %w", s.URL(), err)
	}
	c.Slow = true
	return c, nil
}

func openDetour(ctx context.Context, s store.Store, inbox string) (*detour, error) {
	name := make([]byte, 16)
	rand.Read(name) // never fails
	d := &detour{store: s, prefix: inbox + hex.EncodeToString(name), alive: time.Now()}
	d.ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	if _, err := d.write(nil); err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

func (d *detour) Read(p []byte) (int, error) {
	pause := firstLook
	for len(d.rest) == 0 {
		data, err := records.ReadBytes(d.ctx, d.store, fmt.Sprintf("%s.%d.out", d.prefix, d.received))
		switch {
		case err == nil && len(data) == 0:
			return 0, io.EOF
		case err == nil:
			if err := d.store.Delete(d.ctx, fmt.Sprintf("%s.%d.out", d.prefix, d.received)); err != nil {
				return 0, err
			}
			d.received++
			d.rest = data
			continue
		case !errors.Is(err, store.ErrNotFound):
			return 0, err
		}
		if err := d.showLife(); err != nil {
			return 0, err
		}
		select {
		case <-d.ctx.Done():
			return 0, d.ctx.Err()
		case <-time.After(pause):
			pause = min(2*pause, longestLook)
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// showLife tells the host now and then that this client is alive. It returns an error if the host has not read that the last time.
func (d *detour) showLife() error {
	if time.Since(d.alive) < aliveEvery {
		return nil
	}
	d.alive = time.Now()
	if d.sign != "" {
		if _, err := records.Find(d.ctx, d.store, d.sign); err == nil {
			return fmt.Errorf("the warm host has not looked into the store for %s: %w", aliveEvery, io.ErrUnexpectedEOF)
		}
	}
	sign, err := d.write(nil)
	d.sign = sign
	return err
}

func (d *detour) Write(p []byte) (n int, err error) {
	for n < len(p) {
		piece := p[n:min(len(p), n+pieceBytes)]
		if _, err := d.write(piece); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

// write writes an object, and returns its name.
func (d *detour) write(data []byte) (string, error) {
	d.sending.Lock()
	defer d.sending.Unlock()
	name := fmt.Sprintf("%s.%d.in", d.prefix, d.sent)
	err := d.store.Create(d.ctx, name, bytes.NewReader(data), nil)
	d.sent++
	return name, err
}

func (d *detour) Close() (err error) {
	d.once.Do(func() {
		d.stop()
		parting, stop := context.WithTimeout(context.WithoutCancel(d.ctx), partingTime)
		defer stop()
		err = errors.Join(d.store.Create(parting, d.prefix+".end", bytes.NewReader(nil), nil), d.store.Close())
	})
	return err
}
