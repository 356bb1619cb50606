// Package slowline is a slow connection to a server.
package slowline

import (
	"net"
	"sync"
	"time"
)

// A Line is a slow connection to a server: what passes takes half of roundTrip in each
// direction, and up is how many bytes a second can be sent. Close ends it.
type Line struct {
	net.Listener
	server    string
	roundTrip time.Duration
	up        float64

	mu   sync.Mutex
	free time.Time // when what was sent so far is through
}

// To starts a line to a server.
func To(server string, roundTrip time.Duration, up float64) (*Line, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Line{Listener: listener, server: server, roundTrip: roundTrip, up: up}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(conn)
		}
	}()
	return l, nil
}

func (l *Line) serve(client net.Conn) {
	time.Sleep(l.roundTrip) // TCP's own greeting
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		client.Close()
		return
	}
	go l.pipe(server, client, l.send)
	l.pipe(client, server, func(int) time.Time { return time.Now() })
}

// send returns when a number of bytes has left.
func (l *Line) send(bytes int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(float64(bytes) / l.up * float64(time.Second)))
	return l.free
}

// pipe copies, each piece half a round trip after it has left.
func (l *Line) pipe(to, from net.Conn, leave func(bytes int) time.Time) {
	type piece struct {
		data []byte
		due  time.Time
	}
	pieces := make(chan piece, 16) // those under way; more of them wait in the sender's buffers
	go func() {
		defer close(pieces)
		for {
			data := make([]byte, 16<<10)
			n, err := from.Read(data)
			if n > 0 {
				pieces <- piece{data[:n], leave(n).Add(l.roundTrip / 2)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			from.Close()
			for range pieces { // its reader ends
			}
			break
		}
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}
