package parallel

import "sync"

// Value holds the newest of a series of values. Create one with NewValue.
type Value[T any] struct {
	mu      sync.Mutex
	state   State[T]
	changed chan struct{} // closed and replaced at every change
}

// State is the state of a Value at one moment.
type State[T any] struct {
	// Value is the newest value, or the initial one before the first Set.
	Value T
	// Set means that Value.Set was called.
	Set bool
	// Closed means that there will be no newer value, because of Err if that is not nil.
	// A reader may see it together with a Value that it has not seen, and should use that first.
	Closed bool
	Err    error
}

// NewValue returns a Value that is not set and holds initial until then.
func NewValue[T any](initial T) *Value[T] {
	return &Value[T]{state: State[T]{Value: initial}, changed: make(chan struct{})}
}

// Set makes value the newest value.
func (v *Value[T]) Set(value T) {
	v.change(func(s *State[T]) { s.Value, s.Set = value, true })
}

// Close marks the value as final. err says why, nil for a normal end.
func (v *Value[T]) Close(err error) {
	v.change(func(s *State[T]) { s.Closed, s.Err = true, err })
}

// Get returns the state, and a channel that is closed when it changes.
func (v *Value[T]) Get() (now State[T], changed <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state, v.changed
}

func (v *Value[T]) change(do func(*State[T])) {
	v.mu.Lock()
	defer v.mu.Unlock()
	do(&v.state)
	close(v.changed)
	v.changed = make(chan struct{})
}
