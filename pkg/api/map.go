package api

import (
	"fmt"
	"strconv"
	"strings"
)

// Map is how a function that is called once for each of many inputs is spread over
// pods: each makes the calls of one chunk of inputs that follow each other.
type Map struct {
	// InputsSHA256 names the blob of the inputs: a JSON value a line, each line ended
	// by a newline.
	InputsSHA256 string `json:"inputs_sha256"`
	// Inputs is how many there are, counted from 0.
	Inputs int `json:"inputs"`
	// Only are those that the pods have, in order, where the others have their values
	// from an older map; none stands for all of them.
	Only []Range `json:"only,omitempty"`
	// Inherited is how many values were taken over. Only may have some of their inputs,
	// too, which its pods then leave out.
	Inherited int `json:"inherited,omitempty"`
	// Chunk is how many of them a pod computes, but for the last one; at least 1.
	Chunk int `json:"chunk"`
	// Parallelism is how many pods run at a time, at least 1.
	Parallelism int `json:"parallelism"`
}

// MaxChunks is how many pods a map has at most: Kubernetes counts no more of them
// one by one.
const MaxChunks = 100_000

// Range is inputs that follow each other, from the first to the last.
type Range struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Computed is how many inputs the pods have, all together.
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

// Chunks is how many there are.
func (m Map) Chunks() int { return (m.Computed() + m.Chunk - 1) / m.Chunk }

// ChunkOf is the chunk, from 0, that an input is in, and whether there is one: an
// input that Only leaves out is in none.
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

// Arguments are the runner's: where the inputs are, and how they are divided.
func (m Map) Arguments() []string {
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

// Verdict is what came of an input. Metadata of its result keeps it, so that a listing
// shows how far a map is without reading the values.
type Verdict struct {
	// OK says that there is a value.
	OK bool
	// Pickled says that only a pickle has it exactly.
	Pickled bool
}

// Metadata is a verdict beside its result.
func (v Verdict) Metadata() map[string]string {
	return map[string]string{"ok": strconv.FormatBool(v.OK), "pickled": strconv.FormatBool(v.Pickled)}
}

// VerdictOf is the verdict that a listing says, and whether it says one.
func VerdictOf(metadata map[string]string) (v Verdict, told bool) {
	ok, err := strconv.ParseBool(metadata["ok"])
	pickled, err2 := strconv.ParseBool(metadata["pickled"])
	return Verdict{OK: ok, Pickled: pickled}, err == nil && err2 == nil
}
