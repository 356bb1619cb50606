package logs

import (
	"bufio"
	"errors"
	"hash/maphash"
	"slices"
	"time"
)

// recentCount is how many lines find looks for, at most.
const recentCount = 100

// recentLines are the lines that were read last from a node, as hashes of their texts. They find
// the place in the store at which to continue when reading did not begin with the first line.
// Stamps can't find it: the runner stamps a line before the node does, and all lines of one
// write alike. A nil pointer remembers nothing.
type recentLines struct {
	hash maphash.Hash // of the line that is being read
	sums []uint64     // of whole lines, the newest last
	at   time.Time    // the node's stamp of the newest
}

// add takes the next piece of a line, the last one if ended is true.
func (r *recentLines) add(piece []byte, ended bool) {
	if r == nil {
		return
	}
	_, _ = r.hash.Write(piece) // it never fails
	if !ended {
		return
	}
	if len(r.sums) >= 2*recentCount {
		r.sums = append(r.sums[:0], r.last(recentCount)...)
	}
	r.sums = append(r.sums, r.hash.Sum64())
	r.hash.Reset()
}

// last returns the sums of the last n lines, or of all.
func (r *recentLines) last(n int) []uint64 { return r.sums[max(0, len(r.sums)-n):] }

// find counts the lines of a stored log up to the newest recent one. If the recent lines are there
// several times, as in a log that repeats itself, the nearest in time are taken. found is false if
// they are not there.
func (r *recentLines) find(log *bufio.Reader) (lines int, found bool, err error) {
	var stored recentLines
	stored.hash.SetSeed(r.hash.Seed())
	wanted, nearest := r.last(recentCount), time.Duration(0)
	for n := 1; ; n++ {
		stamp, err := stored.readLine(log)
		if err != nil {
			return lines, found, unlessEOF(err)
		}
		if !slices.Equal(stored.last(len(wanted)), wanted) {
			continue
		}
		at, _ := time.Parse(StampLayout+" ", string(stamp[:])) // without a stamp it is far away
		if apart := r.at.Sub(at).Abs(); !found || apart < nearest {
			lines, found, nearest = n, true, apart
		}
	}
}

// readLine adds the next line of a stored log and returns its stamp. The error is io.EOF if there
// is no other whole line.
func (r *recentLines) readLine(log *bufio.Reader) (stamp [len(stampForm)]byte, err error) {
	begin, _ := log.Peek(len(stampForm)) // an error comes again
	if len(begin) == len(stampForm) && hasStamp(begin) {
		copy(stamp[:], begin)
		_, _ = log.Discard(len(begin)) // it was there
	}
	for {
		piece, err := log.ReadSlice('\n')
		r.add(piece, err == nil)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return stamp, err
		}
	}
}
