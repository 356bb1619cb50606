package warm

import "sync"

// Rung is a connection on which a host was given a call. Who follows the call first gets it.
type Rung struct {
	ID   string
	Conn *Conn
	once sync.Once
}

// has reports whether a host was given a call.
func (r *Rung) has(id string) bool { return r != nil && r.ID == id }

func (r *Rung) take(id string) (conn *Conn) {
	if r != nil && r.ID == id {
		r.once.Do(func() { conn = r.Conn })
	}
	return conn
}
