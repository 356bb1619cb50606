package submit

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

const (
	// defaultParallelism is how many pods of a map run at a time.
	defaultParallelism = 16
	// defaultChunk is the maximum number of inputs of a chunk by default. If there are
	// fewer inputs, each of these pods gets one chunk: starting another takes longer than
	// most inputs do.
	defaultChunk = 1000
	// mapRetries is how often a chunk restarts by default. Its finished inputs are kept,
	// and without a retry an unfinished chunk would cost another run of the whole map.
	mapRetries = 3
	// manyBytes is how much of its inputs all pods of a map together may read before that
	// causes a warning: each pod reads the whole file, to check its hash.
	manyBytes = 100 << 30
)

// validateMap rejects flags that need a map, and requests that can't be one.
func validateMap(r api.Request) error {
	switch {
	case r.Map == "" && r.Chunk != 0:
		return errors.New("--chunk requires --map")
	case r.Map == "" && r.Parallelism != 0:
		return errors.New("--parallelism requires --map")
	case r.Map == "":
		return nil
	case r.Backend.IsLeaderWorkerSet():
		return fmt.Errorf("--map cannot be combined with --backend %s: a map is an Indexed Job (--backend gke)", r.Backend)
	case r.Hosts > 1 || r.Slices > 1:
		return errors.New("--map makes each call on one host, so it can't be combined with --hosts or --slices")
	case r.Debug:
		return errors.New("--map cannot be combined with --debug: debug the function with one input, passed with --arg")
	}
	return nil
}

// inputs are the inputs of a map, and a way to read them again: a file is never held in
// memory.
type inputs struct {
	call.Inputs
	open func() (io.ReadCloser, error)
}

// MapInputs remembers the inputs of a map for another plan of the same request: standard
// input and pipes can be read only once.
type MapInputs struct{ read *inputs }

// mapInputs returns the inputs of a map, none if the request is not a map.
func mapInputs(r api.Request, t call.Target, m Machine) (inputs, error) {
	if r.Map == "" {
		return inputs{}, nil
	}
	if !t.Kind.Returns() {
		return inputs{}, errors.New("--map requires a function as TARGET, as in train.py:train")
	}
	in, err := readInputs(r, m)
	if err == nil && t.Kind == api.CallPickle && in.Other > 0 {
		err = ofInputs(r, &call.LineError{Line: in.Other, Err: errors.New("with --payload, each input is a JSON string, the base64 of a pickle of (args, kwargs)")})
	}
	return in, err
}

func readInputs(r api.Request, m Machine) (in inputs, err error) {
	if m.Inputs != nil && m.Inputs.read != nil {
		return *m.Inputs.read, nil
	}
	if r.Map == "-" {
		in, err = readOnce(m.Stdin)
	} else {
		in, err = readFile(absolute(r.Map, m.Cwd))
	}
	switch {
	case err == nil && m.Inputs != nil:
		m.Inputs.read = &in
	case err != nil && !errors.As(err, new(*call.LineError)):
		err = fmt.Errorf("--map %s: %w", r.Map, err)
	}
	return in, ofInputs(r, err)
}

func ofInputs(r api.Request, err error) error {
	if wrong := new(call.LineError); errors.As(err, &wrong) {
		return fmt.Errorf("--map %s:%d: %w", r.Map, wrong.Line, wrong.Err)
	}
	return err
}

// readOnce keeps a copy of input that can be read only once. The copy is compressed,
// since only the upload needs it.
func readOnce(r io.Reader) (in inputs, err error) {
	var kept bytes.Buffer
	lines := gzip.NewWriter(&kept)
	in.Inputs, err = call.ReadInputs(r, lines)
	in.open = func() (io.ReadCloser, error) { return gzip.NewReader(bytes.NewReader(kept.Bytes())) }
	return in, errors.Join(err, lines.Close())
}

func readFile(path string) (in inputs, err error) {
	file, err := os.Open(path)
	if err != nil {
		return in, errors.Unwrap(err) // the caller names it
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, err := file.Stat(); err == nil && !info.Mode().IsRegular() { // a pipe can be read only once
		return readOnce(file)
	}
	in.Inputs, err = call.ReadInputs(file, io.Discard)
	in.open = func() (io.ReadCloser, error) { return reread(path) }
	return in, err
}

// reread yields the lines of a file of inputs as they are stored.
func reread(path string) (io.ReadCloser, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	go func() {
		_, err := call.ReadInputs(file, w)
		w.CloseWithError(errors.Join(err, file.Close()))
	}()
	return r, nil
}

func absolute(name, cwd string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(cwd, name)
}

// spread decides which pod calls the function with which inputs. only limits the inputs;
// nil means all.
func spread(r api.Request, in inputs, only []api.Range) *api.Map {
	if r.Map == "" {
		return nil
	}
	m := &api.Map{InputsSHA256: in.SHA256, Inputs: in.Count, Only: only, Chunk: r.Chunk, Parallelism: r.Parallelism}
	if r.Backend == api.BackendLocal { // one process, one input after the other
		m.Chunk, m.Parallelism = max(m.Computed(), 1), 1
	}
	m.Parallelism = cmp.Or(m.Parallelism, defaultParallelism)
	m.Chunk = cmp.Or(m.Chunk, min(quotient(m.Computed(), m.Parallelism), defaultChunk))
	m.Parallelism = min(m.Parallelism, m.Chunks())
	return m
}

// mostChunks returns how many chunks a map can have, 0 for other jobs. How many one that is
// resumed has is decided after its ID.
func mostChunks(r api.Request, m *api.Map) int {
	switch {
	case m == nil:
		return 0
	case r.MapResume != "":
		return m.Inputs
	}
	return m.Chunks()
}

// checkChunks rejects a map with more pods than a job can have, or than one with the given
// ID can have. It is "" if none is given.
func checkChunks(m *api.Map, id string) error {
	if m == nil {
		return nil
	}
	if m.Chunks() > api.MaxChunks {
		return fmt.Errorf("--chunk %d: that makes %[3]d chunks of %[2]d inputs, but a job can have at most %[4]d: use %[5]d or more", m.Chunk, m.Computed(), m.Chunks(), api.MaxChunks, quotient(m.Computed(), api.MaxChunks))
	}
	if longest := longestID(m.Chunks()); len(id) > longest {
		return fmt.Errorf("--job-id %s: in a map with more than %d chunks, an ID can have at most %d characters, not %d: use a shorter one, or larger chunks with --chunk", id, fewChunks, longest, len(id))
	}
	return nil
}

// rereadWarnings warns if too many pods would read all inputs of a map, which have that
// size.
func rereadWarnings(m *api.Map, size int64) []string {
	if m == nil || int64(m.Chunks()) <= manyBytes/size {
		return nil
	}
	pods := int(manyBytes / size)
	return []string{fmt.Sprintf("the map's %d pods each read the whole input file (%d GiB in total): use fewer pods with --chunk %d", m.Chunks(), int64(m.Chunks())*size>>30, quotient(m.Computed(), pods))}
}

func quotient(a, b int) int { return (a-1)/b + 1 }
