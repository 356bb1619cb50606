package api

// ListLevel says how much a list of jobs says. Each level includes those before it.
type ListLevel int

// The levels, by what has to be read for them.
const (
	// ListNames: which jobs there are, and what they are.
	ListNames ListLevel = iota
	// ListStates: in which state each is.
	ListStates
	// ListReasons: why those that wait do so.
	ListReasons
)
