package logs

import "time"

// Options choose what is read of a log.
type Options struct {
	// Follow goes on until the job has ended.
	Follow bool
	// Tail is the number of last lines to begin with, of each host; -1 is all.
	Tail int
	// Since drops lines begun before this time; zero is all.
	Since time.Time
	// Timestamps puts the time, as stored, and a space before each line.
	Timestamps bool
	// Attempt is the only attempt to read, from 1; 0 is all.
	Attempt int
	// Host is the only host to read, from 0; -1 is all.
	Host int
}
