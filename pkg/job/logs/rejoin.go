package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// lastStored is a writer that passes on what the store has of a log, and remembers the last lines of it.
type lastStored struct {
	io.Writer
	recentLines        // at is the runner's stamp of the newest
	begin       []byte // of the current line, no longer than a stamp
}

func (s *lastStored) Write(p []byte) (int, error) {
	for b := range bytes.Lines(p) {
		ended := b[len(b)-1] == '\n'
		if n := min(len(stampForm)-len(s.begin), len(b)); n > 0 {
			s.begin, b = append(s.begin, b[:n]...), b[n:]
			switch whole := len(s.begin) == len(stampForm); {
			case whole && hasStamp(s.begin):
				s.at, _ = time.Parse(StampLayout+" ", string(s.begin)) // without a time it is far away
			case whole, ended:
				s.add(s.begin, false)
			}
		}
		if s.add(b, ended); ended {
			s.begin = s.begin[:0]
		}
	}
	return s.Writer.Write(p)
}

// readRotated reads what its node has dropped in the archive, and then the node's log from there on: a runner that was
// killed could not upload what it had printed in the last seconds, and one that runs has yet to. It warns if the two do
// not meet. If drained is done, the node is not asked.
func (l *podLog) readRotated(ctx, drained, live context.Context) error {
	if err := l.readArchive(ctx, live); err != nil {
		return err
	}
	if len(l.stored.sums) == 0 || drained.Err() != nil {
		return ctx.Err()
	}
	var place placeOnNode
	err := l.withSlot(drained, func() (err error) {
		place, err = l.find(drained)
		return err
	})
	if err == nil && place.equal > 0 {
		l.at, l.placed = place.at, true
		err = l.readNode(drained, live)
	}
	switch reason := reasonOf(err); {
	case ctx.Err() != nil:
		return ctx.Err()
	case reason == Gone, reason == Unready: // most such jobs have uploaded their whole log
		return nil
	case err != nil && place.equal > 0 && !errors.As(err, new(*missingError)) && !errors.Is(err, context.Canceled):
		return err
	case err != nil:
		l.source.Warn(fmt.Sprintf("the end of the log of pod %s may be missing: %v", l.pod.Name, err))
	case place.of > 0 && !place.sure:
		l.source.Warn(fmt.Sprintf("the log of pod %s may lack lines near its end: the store does not have the last ones, and the node has dropped some; --tail 100 shows the last ones", l.pod.Name))
	}
	return nil
}

// placeOnNode is where the node continues what the store has.
type placeOnNode struct {
	lines, of int // before the place, and in all
	at        cursor
	sure      bool          // it is not there by chance
	equal     int           // how many lines before the place are equal; 0 means that there is no place
	apart     time.Duration // how far the stamps of the line before it are
}

// sureLines is how many equal lines are not equal by chance.
const sureLines = 10

// find finds the last lines of the store on the node, which may have only some of them: it may begin within a line, and
// a note of the runner may be in one of them only. In a log that repeats itself, the place with most of them is taken,
// and of several the nearest in time.
func (l *podLog) find(ctx context.Context) (best placeOnNode, err error) {
	body, err := l.source.Open(ctx, *l.pod, OpenOptions{})
	if err != nil {
		return best, err
	}
	defer body.Close()
	var here recentLines
	stored := &l.stored
	here.hash.SetSeed(stored.hash.Seed())
	var at cursor
	r := bufio.NewReaderSize(body, l.buffer)
	for inside := false; ; {
		text, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			best.sure = best.sure || best.equal > 0 && best.lines == best.of
			return best, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return best, l.broken(err)
		case !inside:
			var stamp time.Time
			var stamped bool
			if stamp, text, stamped = splitStamp(text); !stamped || l.isEnd(text) || l.archive.Take(text) {
				continue // the store does not have it
			}
			if !stamp.Equal(at.stamp) {
				at = cursor{stamp: stamp}
			}
		}
		inside = err != nil
		if here.add(text, !inside); inside {
			continue
		}
		at.lines++
		best.of++
		equal := equalEnd(here.last(recentCount), stored.last(recentCount))
		if equal == 0 {
			continue
		}
		apart := stored.at.Sub(at.stamp).Abs()
		sure := equal >= sureLines || equal == len(stored.sums) || apart < time.Second
		if equal > best.equal || equal == best.equal && apart < best.apart {
			best = placeOnNode{best.of, best.of, at, sure, equal, apart}
		}
	}
}

// equalEnd returns how many elements at the ends of two lists are equal.
func equalEnd(one, other []uint64) (n int) {
	for n < min(len(one), len(other)) && one[len(one)-1-n] == other[len(other)-1-n] {
		n++
	}
	return n
}
