package api

import (
	"fmt"
	"strconv"
	"strings"
)

// Map says how the calls of a function, one for each of many inputs, are spread over pods.
// Each pod makes the calls of one chunk of consecutive inputs.
type Map struct {
	// InputsSHA256 names the blob of the inputs: one JSON value per line, each line ending
	// in a newline.
	InputsSHA256 string `json:"inputs_sha256"`
	// Inputs is the number of inputs, which are numbered from 0.
	Inputs int `json:"inputs"`
	// Only are the inputs that the pods compute, in order; the others have values from an
	// older map. Empty means all inputs.
	Only []Range `json:"only,omitempty"`
	// Inherited is how many values come from the older map. Only may include some of those
	// inputs too; its pods skip them.
	Inherited int `json:"inherited,omitempty"`
	// Chunk is how many inputs a pod computes, at least 1; the last chunk may have fewer.
	Chunk int `json:"chunk"`
	// Parallelism is how many pods run at the same time, at least 1.
	Parallelism int `json:"parallelism"`
}

// MaxChunks is the largest number of pods of a map: above it, Kubernetes does not track
// pods one by one.
const MaxChunks = 100_000

// Range is a run of consecutive inputs, both ends included.
type Range struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Computed returns how many inputs the pods compute in total.
func (m Map) Computed() int {
	if len(m.Only) == 0 {
		return m.Inputs
	}
	n := 0
	for _, r := range m.Only {
		n += r.Last - r.First + 1
	}
	return n
}

// Chunks returns the number of chunks.
func (m Map) Chunks() int { return (m.Computed() + m.Chunk - 1) / m.Chunk }

// ChunkOf returns the chunk of an input, numbered from 0. computed is false for an input
// that Only leaves out.
func (m Map) ChunkOf(input int) (chunk int, computed bool) {
	if len(m.Only) == 0 {
		return input / m.Chunk, true
	}
	before := 0
	for _, r := range m.Only {
		if r.First <= input && input <= r.Last {
			return (before + input - r.First) / m.Chunk, true
		}
		before += r.Last - r.First + 1
	}
	return 0, false
}

// Arguments returns the runner's flags for where the inputs are and how they are divided, none without a map.
func (m *Map) Arguments() []string {
	if m == nil {
		return nil
	}
	args := []string{"--map", m.InputsSHA256, "--chunk", strconv.Itoa(m.Chunk), "--inputs", strconv.Itoa(m.Inputs)}
	var only []string
	for _, r := range m.Only {
		only = append(only, fmt.Sprintf("%d-%d", r.First, r.Last))
	}
	if only != nil {
		args = append(args, "--only", strings.Join(only, ","))
	}
	return args
}

// Verdict is the outcome of one input. It is kept in the metadata of the result, so that a
// listing shows a map's progress without reading the values.
type Verdict struct {
	// OK means that there is a value.
	OK bool
	// Pickled means that only a pickle has the exact value.
	Pickled bool
}

// Metadata returns the verdict in the form that is stored beside its result.
func (v Verdict) Metadata() map[string]string {
	return map[string]string{"ok": strconv.FormatBool(v.OK), "pickled": strconv.FormatBool(v.Pickled)}
}

// VerdictOf reads a verdict from metadata; known is false if there is none.
func VerdictOf(metadata map[string]string) (v Verdict, known bool) {
	ok, err := strconv.ParseBool(metadata["ok"])
	pickled, err2 := strconv.ParseBool(metadata["pickled"])
	return Verdict{OK: ok, Pickled: pickled}, err == nil && err2 == nil
}
