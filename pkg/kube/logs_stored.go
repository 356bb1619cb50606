package kube

import (
	"context"
	"time"
)

// readElsewhere goes on where a node could not. Without a store a reader who follows
// is told, and goes on with the next attempt.
func readElsewhere(ctx, live context.Context, board *board, s *stream, err error) error {
	switch {
	case s.options.Tail == 0 && !s.placed:
		return nil // nothing of what is there was wanted
	case s.options.Rest != nil:
		return followStored(ctx, live, board, s)
	case s.options.Follow:
		s.client.transport.Say("the rest of the log of pod %s is missing: %v", s.pod, err)
		return nil
	}
	return err
}

// followStored goes on in the store, which gets the log in parts, the last one
// before the container ends.
func followStored(ctx, live context.Context, board *board, s *stream) error {
	p := s.point()
	if p.Tail > 0 { // the last lines are known at the end
		board.untilOver(live, s.uid)
	}
	for {
		over := live.Err() != nil || board.over(s.uid)
		var err error
		if p, err = s.options.Rest(ctx, p, s.out); err != nil || over {
			return err
		}
		again, cancel := context.WithTimeout(live, storedAgain)
		board.untilOver(again, s.uid)
		cancel()
	}
}

// storedAgain is when the store is asked for another part of a log. The runner
// stores one every 30 seconds.
const storedAgain = 5 * time.Second
