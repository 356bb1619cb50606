package submit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/call"
)

const (
	// defaultParallelism is how many pods of a map run at a time.
	defaultParallelism = 16
	// turns is how many chunks each of them gets by default: the slow ones are evened
	// out, and the function is not imported much more often than needed.
	turns = 4
	// defaultChunk is the most inputs that a chunk has by default.
	defaultChunk = 1000
)

// validateMap rejects what is no map, or can't be one.
func validateMap(r api.Request) error {
	if r.Map == "" {
		switch {
		case r.Chunk != 0:
			return errors.New("--chunk is about the inputs of --map: name their file")
		case r.Parallelism != 0:
			return errors.New("--parallelism is about the inputs of --map: name their file")
		}
		return nil
	}
	switch {
	case r.Backend == api.BackendLocal:
		return errors.New("--map and --local exclude each other: a map is many pods; on this machine, call the function in a loop")
	case r.Backend == api.BackendPathways:
		return errors.New("--map and --backend pathways exclude each other: a map is an Indexed Job, which --backend gke runs")
	case r.Hosts > 1 || r.Slices > 1:
		return errors.New("--map is of calls on one host each, and --hosts and --slices make one call on several; give one of them")
	case r.Debug:
		return errors.New("--map and --debug exclude each other: debug the function with one of the inputs, as --arg")
	}
	return nil
}

// checkMapTarget holds that a map calls a function.
func checkMapTarget(t call.Target) error {
	if t.Kind == api.CallFunction {
		return nil
	}
	return errors.New("--map calls a function once for each input: name one as TARGET, as in train.py:train")
}

// mapInputs are those of a map; there are none without one.
func mapInputs(r api.Request, t call.Target, m Machine) (call.Inputs, error) {
	if r.Map == "" {
		return call.Inputs{}, nil
	}
	if err := checkMapTarget(t); err != nil {
		return call.Inputs{}, err
	}
	return readInputs(r, m)
}

func readInputs(r api.Request, m Machine) (in call.Inputs, err error) {
	switch r.Map {
	case "-":
		in, err = call.ReadInputs(m.Stdin)
	default:
		in, err = readFile(r.Map, m.Cwd)
	}
	if err != nil {
		return in, fmt.Errorf("--map %s: %w", r.Map, err)
	}
	return in, nil
}

func readFile(name, cwd string) (in call.Inputs, err error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(cwd, name)
	}
	file, err := os.Open(name)
	if err != nil {
		return in, errors.Unwrap(err) // the caller names it
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return call.ReadInputs(file)
}

// spread decides which pod calls the function with which inputs.
func spread(r api.Request, in call.Inputs) (*api.Map, error) {
	if r.Map == "" {
		return nil, nil
	}
	m := &api.Map{InputsSHA256: sha256Hex(in.Lines), Inputs: in.Count, Chunk: r.Chunk, Parallelism: r.Parallelism}
	if m.Parallelism == 0 {
		m.Parallelism = defaultParallelism
	}
	if m.Chunk == 0 {
		m.Chunk = min(quotient(m.Inputs, turns*m.Parallelism), defaultChunk)
	}
	if n := m.Chunks(); n > api.MaxChunks {
		return nil, fmt.Errorf("--chunk %d: %d inputs are %d chunks then, and a job has %d at most: make it %d or more", m.Chunk, m.Inputs, n, api.MaxChunks, quotient(m.Inputs, api.MaxChunks))
	}
	m.Parallelism = min(m.Parallelism, m.Chunks())
	return m, nil
}

// CheckResume holds that the values of an older map are those of the plan's.
func (p Planned) CheckResume(old api.Handle) error {
	switch m := old.Map; {
	case m == nil:
		return fmt.Errorf("--map-resume %s: that job is no map", old.JobID)
	case m.InputsSHA256 != p.Spec.Map.InputsSHA256:
		return fmt.Errorf("--map-resume %s: that job has other inputs (%d, and these are %d): give it the same file", old.JobID, m.Inputs, p.Spec.Map.Inputs)
	case old.CallSHA256 != p.Spec.CallSHA256:
		return fmt.Errorf("--map-resume %s: that job, of %s, differs in its function, in --arg or in the directory it was started in: repeat its command line", old.JobID, old.FuncName)
	}
	return nil
}

// quotient is a/b, rounded up.
func quotient(a, b int) int { return (a-1)/b + 1 }
