package api

// Detail says how much a list of jobs says. Each level includes those before it.
type Detail int

// The levels, by what has to be read for them.
const (
	// TellNames: which jobs there are, and what they are.
	TellNames Detail = iota
	// TellStates: in which state each is.
	TellStates
	// TellReasons: why those that wait do so.
	TellReasons
)
