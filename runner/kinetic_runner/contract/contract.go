// Package contract has what the client and the runner both know: names of objects, limits, marks and exit
// codes. They stand in contract.json alone, which the runner reads, too.
package contract

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed contract.json
var text []byte

// Facts are the content of contract.json.
type Facts struct {
	// Objects are the names in a store, as formats for Printf, relative to its URL; those of Index, IndexObjects and
	// Incomplete are relative to the home of a job's outputs.
	Objects struct {
		Blob         string `json:"blob"`          // of a SHA-256, twice
		Data         string `json:"data"`          // the prefix of a directory that pods mount: of a SHA-256
		DataRecord   string `json:"data_record"`   // that it is complete
		Handle       string `json:"handle"`        // of a job's ID, like the following ones
		Call         string `json:"call"`          //
		Payload      string `json:"payload"`       // the pickle of a call
		Result       string `json:"result"`        //
		End          string `json:"end"`           //
		Environment  string `json:"environment"`   // the wheels that requirements resulted in
		Attempts     string `json:"attempts"`      // the prefix of the records of starts
		Results      string `json:"results"`       // the prefix of the results of a map
		LogPart      string `json:"log_part"`      // of a host, an attempt and a part, too
		Index        string `json:"index"`         // of the outputs of a host, or in a map of an input
		IndexObjects string `json:"index_objects"` // the prefix of the objects that this index names
		Incomplete   string `json:"incomplete"`    // the prefix of the outputs that are not finished
	} `json:"objects"`
	// Metadata are the keys of the metadata of outputs under their plain names.
	Metadata struct {
		Writer string `json:"writer"` // JOB/HOST/ATTEMPT
		Hash   string `json:"hash"`   // the SHA-256
	} `json:"metadata"`
	// IDs are what the IDs of jobs look like, and which of them are directories of a store.
	IDs struct {
		Pattern  string   `json:"pattern"`
		Reserved []string `json:"reserved"`
	} `json:"ids"`
	// Limits are in bytes. The runner refuses more, so a client refuses before it uploads anything.
	Limits struct {
		Call          int64 `json:"call"`           // call.json, and the inputs of a map
		Index         int   `json:"index"`          // the JSON of a bundle's index: about half a million files
		Part          int64 `json:"part"`           // a part of a large file, and a blob with several files
		PayloadHeader int   `json:"payload_header"` // of a pickled call
		OutputsIndex  int64 `json:"outputs_index"`  // some million files
	} `json:"limits"`
	// Marks begin or end a record of a log: one byte each.
	Marks struct {
		Stderr string `json:"stderr"` // begins a record of standard error
		Stdout string `json:"stdout"` // begins a record of standard output whose text begins with a mark
		Piece  string `json:"piece"`  // ends a record whose line continues in another one
		Report string `json:"report"` // begins a line for the client
	} `json:"marks"`
	// Lines are those that the last pod of a job prints at its end.
	Lines struct {
		End    string `json:"end"`    // a format with the ID: the very last one
		Report string `json:"report"` // after its mark, begins the line with the pickle
	} `json:"lines"`
	// Exits are the exit codes of the runner that are not the call's own.
	Exits struct {
		Deadline   int32 `json:"deadline"`
		Runner     int32 `json:"runner"`
		Killed     int32 `json:"killed"`     // 128 + SIGKILL
		Terminated int32 `json:"terminated"` // 128 + SIGTERM
	} `json:"exits"`
	// Reasons are the exit codes of the runner by the reason why a job ended.
	Reasons map[string]int `json:"reasons"`
}

// Read returns the facts. It takes some 30 µs, so a package keeps them.
func Read() Facts {
	var f Facts
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		// The text is part of the program, so this cannot happen.
		panic(fmt.Sprintf("reading contract.json: %v", err))
	}
	return f
}
