package logs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Stored writes the log that the job has in the store to w: the log of one host, or the logs of
// all hosts merged by time, as a Multiplexer prints them. The attempts of each host come in
// order. An unfinished line at the end of an attempt is ended if something follows. A job without
// any log has an empty one. If the chosen host or attempt has no log, the error names those that
// have one. Stored ignores Follow.
func Stored(ctx context.Context, s store.Store, id string, o Options, w display.Streams) error {
	all, err := partsFor(ctx, s, id, o)
	if err != nil {
		return err
	}
	chosen, err := choose(all, o)
	if err != nil {
		return fmt.Errorf("reading the log of job %s: %w", id, err)
	}
	if len(chosen) == 0 {
		return nil
	}
	c := newCopier(s)
	hosts := split(chosen, part.sameHost)
	o.Hosts = max(o.Hosts, chosen[len(chosen)-1].host+1)
	if o.Merges() {
		o.Out.Columns, o.Err.Columns = 0, 0 // no line is still growing
		err = c.merge(ctx, hosts, o, w)
	} else {
		c.decoder = o.decoder(w, chosen[0].host)
		err = c.host(ctx, hosts[0], o.Tail)
	}
	if err != nil {
		return fmt.Errorf("reading the log of job %s in %s: %w", id, s.URL(), err)
	}
	return nil
}

// split splits sorted parts where one does not belong to the part before it.
func split(parts []part, belong func(a, b part) bool) (groups [][]part) {
	for i, p := range parts {
		if i == 0 || !belong(parts[i-1], p) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], p)
	}
	return groups
}

// readSize is how many bytes of a line are read at once, at most.
const readSize = 64 << 10

// bufferSize is how many bytes of a log are in memory at once, at most.
const bufferSize = 256 << 10

// part is a stored part of what a host printed in an attempt.
type part struct {
	host, attempt, number int
	object                string
}

func (p part) sameHost(q part) bool { return p.host == q.host }

func (p part) sameStream(q part) bool { return p.sameHost(q) && p.attempt == q.attempt }

// partsFor returns the parts of the chosen host, or of all hosts if that has none or none is
// chosen.
func partsFor(ctx context.Context, s store.Store, id string, o Options) ([]part, error) {
	if o.Host >= 0 {
		parts, err := listParts(ctx, s, id, store.LogsOfHost(id, o.Host))
		if err != nil || len(parts) > 0 {
			return parts, err
		}
	}
	return listParts(ctx, s, id, store.Logs(id))
}

// listParts returns the parts below a prefix, sorted by host, attempt and number. It ignores
// objects with other names.
func listParts(ctx context.Context, s store.Store, id, prefix string) ([]part, error) {
	var parts []part
	for o, err := range s.List(ctx, prefix, "") {
		if err != nil {
			return nil, fmt.Errorf("listing the log of job %s in %s: %w", id, s.URL(), err)
		}
		if p, ok := parsePart(id, o.Name); ok {
			parts = append(parts, p)
		}
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.number, b.number))
	})
	return parts, nil
}

func parsePart(id, name string) (part, bool) {
	p := part{object: name}
	_, err := fmt.Sscanf(strings.TrimPrefix(name, store.Logs(id)), "%d/%d-%d.log", &p.host, &p.attempt, &p.number)
	return p, err == nil && p.host >= 0 && store.LogPart(id, p.host, p.attempt, p.number) == name
}

// ErrNoLog says that a chunk of a map has no log, although others have one: no pod has run it.
var ErrNoLog = errors.New("no log")

func choose(all []part, o Options) ([]part, error) {
	if len(all) == 0 {
		return nil, nil
	}
	ofHost := slices.DeleteFunc(slices.Clone(all), func(p part) bool { return o.Host >= 0 && p.host != o.Host })
	if len(ofHost) == 0 && o.Chunks {
		return nil, fmt.Errorf("chunk %d has %w, but others have one", o.Host, ErrNoLog)
	}
	if len(ofHost) == 0 {
		return nil, fmt.Errorf("no log of host %d, only of host %s", o.Host,
			numbers(all, func(p part) int { return p.host }))
	}
	chosen := slices.DeleteFunc(slices.Clone(ofHost), func(p part) bool { return o.Attempt > 0 && p.attempt != o.Attempt })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no log of attempt %d, only of attempt %s", o.Attempt,
			numbers(ofHost, func(p part) int { return p.attempt }))
	}
	return chosen, nil
}

// numbers lists the different numbers of parts for the user: 1, 2, 5.
func numbers(parts []part, of func(part) int) string {
	var all []int
	for _, p := range parts {
		all = append(all, of(p))
	}
	slices.Sort(all)
	var words []string
	for _, n := range slices.Compact(all) {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ", ")
}

// copier decodes parts one after the other.
type copier struct {
	store   store.Store
	decoder *Decoder
	buf     []byte
	last    part // the last part that was copied
}

func newCopier(s store.Store) *copier { return &copier{store: s, buf: make([]byte, bufferSize)} }

// host copies the last tail lines of one host's parts, all if tail is negative.
func (c *copier) host(ctx context.Context, parts []part, tail int) error {
	var from position
	if tail >= 0 {
		at, before, err := c.tailOf(ctx, parts, tail)
		if err != nil {
			return err
		}
		if _, err := c.decoder.Write(before); err != nil {
			return err
		}
		from = at
	}
	for i := from.part; i < len(parts); i++ {
		if c.last.object != "" && !c.last.sameStream(parts[i]) {
			if err := c.decoder.Next(); err != nil {
				return err
			}
		}
		c.decoder.begins(parts[i].attempt)
		if err := c.part(ctx, parts[i], from.lines); err != nil {
			return err
		}
		from.lines, c.last = 0, parts[i]
	}
	return nil
}

// part copies a part without its first skip lines.
func (c *copier) part(ctx context.Context, p part, skip int) error {
	return c.read(ctx, p, func(b []byte) error {
		for skip > 0 {
			n := bytes.IndexByte(b, '\n') + 1
			if n == 0 {
				return nil
			}
			b = b[n:]
			skip--
		}
		_, err := c.decoder.Write(b)
		return err
	})
}

// read calls take with the bytes of a part, piece by piece.
func (c *copier) read(ctx context.Context, p part, take func([]byte) error) error {
	r, err := c.store.Open(ctx, p.object)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(c.buf)
		if n > 0 {
			if err := take(c.buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.object, err)
		}
	}
}
