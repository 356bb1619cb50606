package verify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Inputs finds out how the pickles of a map's inputs must be. Each pod leaves a list of the hashes
// of its pickles in the store, and reports the hash of that list when it ends.
type Inputs struct {
	finder Verifier
	job    *job.Job

	mu           sync.Mutex
	reported     []api.ChunkHashes // to the cluster
	remembered   []api.ChunkHashes // by this machine
	rememberedAt time.Time

	read   map[api.ChunkHashes]bool
	hashes map[int]listed // by input
	rest   Source         // of the inputs that no list names, "" if it is not known or none
	late   map[int]bool   // inputs whose pickle is not the one that is listed so far
	over   bool           // nothing more will be known
	used   bool           // rest was
}

// rememberEvery is how often what pods report is written to this machine's memory: a map may have thousands of pods.
const rememberEvery = 2 * time.Second

// listed is the hash of a pickle, from the list of an attempt.
type listed struct {
	hash    string
	attempt int
	source  Source // of the list's hash
}

// Inputs returns what is to be known of a map's inputs.
func (f Verifier) Inputs(j *job.Job) *Inputs {
	i := &Inputs{finder: f, job: j, read: map[api.ChunkHashes]bool{}, hashes: map[int]listed{}, late: map[int]bool{}}
	switch {
	case isHere(j.Store):
		i.rest = Local
	case !f.TrustStore:
		i.remembered = f.Reports.RecallMap(j.Usual, j.ID())
	}
	return i
}

// Note takes what the cluster says about the map. What it said before stays: a pod may be gone.
func (i *Inputs) Note(s api.Status) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, h := range s.Hashes {
		if !slices.Contains(i.reported, h) {
			i.reported = append(i.reported, h)
		}
	}
}

// Look reads the lists of hashes that pods have reported since. Once the map is over, it decides
// about the inputs that are in none; the error may be an Error.
func (i *Inputs) Look(ctx context.Context, over bool) error {
	if !over || i.over {
		return i.readLists(ctx)
	}
	if i.rest == "" {
		if err := i.settle(ctx); err != nil {
			return err
		}
	}
	i.over = true
	return nil
}

func (i *Inputs) readLists(ctx context.Context) error {
	i.mu.Lock()
	reported := slices.Clone(i.reported)
	i.mu.Unlock()
	known := reported
	for _, r := range i.remembered {
		if !slices.ContainsFunc(reported, func(o api.ChunkHashes) bool { return o.Chunk == r.Chunk && o.Attempt == r.Attempt }) {
			known = append(known, r)
		}
	}
	for n, r := range known {
		if i.read[r] {
			continue
		}
		source := Cluster
		if n >= len(reported) {
			source = Cache
		}
		if err := i.readList(ctx, r, source); err != nil {
			return err
		}
		i.read[r] = true
	}
	i.remember(known)
	return nil
}

// remember keeps what is known on this machine, at once if the map is over.
func (i *Inputs) remember(known []api.ChunkHashes) {
	if len(known) > len(i.remembered) && (i.over || time.Since(i.rememberedAt) >= rememberEvery) {
		i.finder.Reports.RememberMap(i.job.Usual, i.job.ID(), known)
		i.remembered, i.rememberedAt = known, time.Now()
	}
}

// settle asks the cluster for the last time, and decides whether to take the word of the store for the rest.
func (i *Inputs) settle(ctx context.Context) error {
	j := i.job
	status, unseen := i.finder.look(ctx, j)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	i.Note(status.Status)
	i.over = true
	if err := i.readLists(ctx); err != nil {
		i.over = false
		return err
	}
	switch {
	case i.finder.TrustStore, unseen == nil && status.State.Ended() && j.Store.URL() == j.Usual:
		i.rest = Store
	case unseen != nil && len(i.read) == 0:
		i.over = false
		return untrusted("job %s: the hashes of its results could not be read from its cluster, only from its store, %s: %w"+advice, j.ID(), j.Store.URL(), unseen)
	}
	return nil
}

// Warning returns a sentence for the user if the word of the store was taken, else "".
func (i *Inputs) Warning() string {
	if !i.used || i.rest != Store || i.finder.TrustStore {
		return ""
	}
	return fmt.Sprintf("not all pods of job %s have reported the hashes of their results: the rest were checked only against the store %s", i.job.ID(), i.job.Store.URL())
}

func (i *Inputs) readList(ctx context.Context, r api.ChunkHashes, source Source) error {
	name := store.Hashes(i.job.ID(), r.Chunk, r.Attempt)
	text, err := records.ReadBytes(ctx, i.job.Store, name)
	if errors.Is(err, store.ErrNotFound) {
		return untrusted("job %s: the hashes of the results of chunk %d were deleted: %w%s", i.job.ID(), r.Chunk, err, source.reused())
	}
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != r.SHA256 {
		return untrusted("%s/%s is not what chunk %d of job %s wrote: its SHA-256 is %s, and %s %s; it was changed since%s",
			i.job.Store.URL(), name, r.Chunk, i.job.ID(), hex.EncodeToString(sum[:]), source.describe(), r.SHA256, source.reused())
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		number, hash, _ := strings.Cut(lines.Text(), " ")
		input, err := strconv.Atoi(number)
		if err != nil || !lazyregexp.Of(hashPattern).MatchString(hash) {
			return fmt.Errorf("reading %s/%s: expected lines of INPUT SHA256", i.job.Store.URL(), name)
		}
		if i.hashes[input].attempt <= r.Attempt {
			i.hashes[input] = listed{hash, r.Attempt, source}
		}
	}
	return nil
}

// Ready reports whether it is known how the pickle of an input must be, or that it is not.
func (i *Inputs) Ready(input int) bool {
	_, known := i.hashes[input]
	return i.over || !i.late[input] && (known || i.rest != "")
}

// Postpone makes an input one that is not ready before the map has ended. It reports false if the map
// has ended.
func (i *Inputs) Postpone(input int) bool {
	i.late[input] = !i.over
	return !i.over
}

// Hash returns the hash that the pickle of an input must have, and who says so. stored is what its
// result says.
func (i *Inputs) Hash(input int, stored string) (string, Source, error) {
	if l, known := i.hashes[input]; known {
		return l.hash, l.source, nil
	}
	if i.rest == "" {
		again := "with --map-resume " + i.job.ID()
		if i.job.Handle.CallKind == api.CallPickle {
			again = "in another map"
		}
		return "", "", untrusted("no pod of job %s has reported the hash of this result, and only the store %s has it: compute it again %s"+advice, i.job.ID(), i.job.Store.URL(), again)
	}
	i.used = true
	return stored, i.rest, nil
}
