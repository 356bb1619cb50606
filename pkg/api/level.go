package api

// ListLevel is how detailed a list of jobs is. Each level includes those before it.
type ListLevel int

// The levels, from the least to read to the most.
const (
	// ListNames is which jobs exist, and what they are.
	ListNames ListLevel = iota
	// ListStates is also the state of each job.
	ListStates
	// ListReasons is also why pending jobs wait.
	ListReasons
)
