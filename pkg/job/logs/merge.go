package logs

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// hostLog is the part of a host's log that was not written yet.
type hostLog struct {
	host     int
	decoder  *Decoder
	attempts [][]part // after the current one
	now      *joinedParts
	lines    *bufio.Reader
	// stamp is that of the next line. A line without a stamp keeps that of the line before.
	stamp []byte
}

// hostLogs is a heap. The host whose next line is the oldest is on top.
type hostLogs []*hostLog

func (s hostLogs) Len() int { return len(s) }

func (s hostLogs) Less(a, b int) bool {
	return cmp.Or(bytes.Compare(s[a].stamp, s[b].stamp), cmp.Compare(s[a].host, s[b].host)) < 0
}

func (s hostLogs) Swap(a, b int) { s[a], s[b] = s[b], s[a] }

func (s *hostLogs) Push(x any) { *s = append(*s, x.(*hostLog)) }

func (s *hostLogs) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}

// openers is how many logs are opened at the same time. Each takes a moment to open, and there
// may be hundreds.
const openers = 16

// merge writes the logs of several hosts as one, in the order in which the lines were printed.
// Per host it has at most one line of each stream in memory, which the Multiplexer limits.
func (c *copier) merge(ctx context.Context, hosts [][]part, o Options, w display.Streams) error {
	buffer := display.NewBuffer(w, bufferSize)
	all, err := c.openAll(ctx, hosts, o, buffer.Streams())
	defer func() {
		for _, s := range all {
			s.now.close()
		}
	}()
	if err != nil {
		return err
	}
	heap.Init(&all)
	for len(all) > 0 {
		s := all[0]
		err := s.copyLine()
		if err == nil {
			err = s.look(ctx, c)
		}
		switch {
		case errors.Is(err, io.EOF):
			heap.Pop(&all)
			if err := s.decoder.Next(); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			heap.Fix(&all, 0)
		}
	}
	return buffer.Flush()
}

// openAll opens the logs of all hosts that have one. With an error it returns those that are
// open.
func (c *copier) openAll(ctx context.Context, hosts [][]part, o Options, w display.Streams) (hostLogs, error) {
	mux := o.multiplexer(w)
	all := make(hostLogs, len(hosts))
	var g errgroup.Group // without a context, which would end with it
	g.SetLimit(openers)
	for i, parts := range hosts {
		g.Go(func() (err error) {
			all[i], err = c.open(ctx, parts, o.Tail, o.decoder(mux.Host(parts[0].host), parts[0].host))
			return err
		})
	}
	err := g.Wait()
	return slices.DeleteFunc(all, func(s *hostLog) bool { return s == nil }), err
}

// open opens the log of a host, at its last tail lines if tail is not negative. It returns nil
// if there is nothing to read.
func (c *copier) open(ctx context.Context, parts []part, tail int, decoder *Decoder) (*hostLog, error) {
	var from position
	var before []byte
	if tail >= 0 {
		var err error
		if from, before, err = newCopier(c.store).tailOf(ctx, parts, tail); err != nil {
			return nil, err
		}
	}
	s := &hostLog{host: parts[0].host, decoder: decoder, attempts: split(parts[from.part:], part.sameStream), now: &joinedParts{}}
	s.lines = bufio.NewReaderSize(s.now, readSize)
	err := s.look(ctx, c)
	for i := 0; i < from.lines && err == nil; i++ {
		if err = skipLine(s.lines); err == nil {
			err = s.look(ctx, c)
		}
	}
	if err == nil {
		_, err = decoder.Write(before)
	}
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return s, err
}

// look reads the stamp of the next line, which may be in the next attempt. The error is io.EOF
// if there is no other line.
func (s *hostLog) look(ctx context.Context, c *copier) error {
	for {
		next, err := s.lines.Peek(len(stampForm))
		if len(next) == len(stampForm) && hasStamp(next) {
			s.stamp = append(s.stamp[:0], next...)
		}
		if len(next) > 0 || err != nil && !errors.Is(err, io.EOF) {
			return unlessEOF(err)
		}
		if len(s.attempts) == 0 {
			return io.EOF
		}
		s.now.close()
		if err := s.decoder.Next(); err != nil {
			return err
		}
		s.decoder.begins(s.attempts[0][0].attempt)
		s.now = &joinedParts{ctx: ctx, store: c.store, left: s.attempts[0]}
		s.lines.Reset(s.now)
		s.attempts = s.attempts[1:]
	}
}

// copyLine passes the next line to the decoder, a long one in pieces.
func (s *hostLog) copyLine() error {
	for {
		piece, err := s.lines.ReadSlice('\n')
		if _, writeErr := s.decoder.Write(piece); writeErr != nil {
			return writeErr
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return unlessEOF(err)
		}
	}
}

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
