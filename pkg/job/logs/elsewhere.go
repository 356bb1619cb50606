package logs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// missingError says why a node can't provide the rest of a log.
type missingError struct{ err error }

func (e *missingError) Error() string { return e.err.Error() }

// readFromStore continues in the archive because of an error of the node. Without an archive, a
// log that is followed continues with the next attempt, after a warning.
func (l *podLog) readFromStore(ctx, drained, live context.Context, err error) error {
	switch {
	case l.options.Tail == 0 && !l.placed:
		return nil // only later lines are wanted
	case errors.Is(err, errRotated) && l.archive.hasLog():
		return l.readRotated(ctx, drained, live)
	case l.archive.hasLog():
		return l.readArchive(ctx, live)
	case l.options.Follow:
		l.source.Warn(fmt.Sprintf("the rest of the log of pod %s is missing: %v", l.pod.Name, err))
		return nil
	}
	return err
}

// archiveInterval is how often the archive is asked for another part of a log. The runner
// uploads one every 30 seconds.
const archiveInterval = 5 * time.Second

// readArchive continues in the archive, to which the runner uploads the log in parts, the last one
// before the container ends.
func (l *podLog) readArchive(ctx, live context.Context) error {
	p := l.point()
	if p.Tail > 0 { // which lines are the last is known at the end
		l.tracker.waitForEnd(live, l.pod.UID)
	}
	if !l.at.stamp.Before(l.options.Since) {
		l.decoder.showAll() // what comes was printed later, whatever the runner's clock says
	}
	l.stored = lastStored{Writer: l.decoder}
	for {
		ended := live.Err() != nil || l.tracker.hasEnded(l.pod.UID)
		var err error
		if p, err = l.archive.Rest(ctx, p, &l.stored); err != nil {
			return err
		}
		if ended {
			if p.Lines > 0 || p.Bytes > 0 || p.recent != nil { // Rest did not find the place
				l.source.Warn(fmt.Sprintf("the end of the log of pod %s may be missing: the store lacks the last lines that were printed", l.pod.Name))
			}
			return nil
		}
		next, cancel := context.WithTimeout(live, archiveInterval)
		l.tracker.waitForEnd(next, l.pod.UID)
		cancel()
	}
}

// point returns the place up to which the log was read, for the archive.
func (l *podLog) point() Point {
	p := Point{Pod: l.leader, Host: l.pod.Host, Lines: l.lines, Bytes: l.at.bytes}
	switch {
	case l.options.Tail >= 0 && !l.placed:
		p.Tail = l.options.Tail
	case l.recent != nil && len(l.recent.sums) > 0:
		l.recent.at = l.at.stamp
		p.recent = l.recent
	}
	return p
}
