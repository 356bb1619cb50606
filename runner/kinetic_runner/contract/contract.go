// Package contract has what the client and the runner both know: names of objects, versions, limits, marks, exit
// codes and more. They stand in contract.json alone, which the runner reads, too.
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
	// Incomplete are relative to the home of a job's outputs, Pickle and InputPickle to its directory. What comes
	// from the second attempt or a later one has -ATTEMPT where the others have nothing.
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
		Pickle       string `json:"pickle"`        // of -ATTEMPT or ""
		Attempts     string `json:"attempts"`      // the prefix of the records of starts
		Attempt      string `json:"attempt"`       // of CHUNK- or "" and an attempt, too
		Results      string `json:"results"`       // the prefix of the results of a map
		InputResult  string `json:"input_result"`  // of an input of a map, too, like the following ones
		InputTries   string `json:"input_tries"`   // the attempts that have started it
		InputPickle  string `json:"input_pickle"`  // of the input and -ATTEMPT or ""
		Hashes       string `json:"hashes"`        // of a chunk's pickles: of the chunk and -ATTEMPT or "", too
		LogPart      string `json:"log_part"`      // of a host, an attempt and a part, too
		PartLog      string `json:"part_log"`      // the end of a log of Pathways: of an attempt and rm, proxy or worker-N, too
		Index        string `json:"index"`         // of the outputs of a host, or in a map of an input
		IndexObjects string `json:"index_objects"` // the prefix of the objects that this index names
		Incomplete   string `json:"incomplete"`    // the prefix of the outputs that are not finished
		Outputs      string `json:"outputs"`       // the directory of the outputs of a job
		// HomeElsewhere is the home of the outputs of a job with an --output-dir, below that.
		HomeElsewhere string `json:"home_elsewhere"`
		// WarmCalls is the prefix of the names of the calls that a warm host was given: of its ID.
		WarmCalls string `json:"warm_calls"`
		// WarmInbox is the prefix of the connections to a pod of a warm host through the store: of its ID and the pod's number.
		WarmInbox string `json:"warm_inbox"`
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
	// Versions are of the documents that one writes and the other reads.
	Versions struct {
		Document     int `json:"document"`      // all but the following ones
		Index        int `json:"index"`         // of a bundle
		OutputsIndex int `json:"outputs_index"` //
	} `json:"versions"`
	// Ports are of the pods of a job.
	Ports struct {
		Debug int `json:"debug"` // the debugger's, on 127.0.0.1
		Group int `json:"group"` // that the runner of host 0 listens on
		Warm  int `json:"warm"`  // that a warm host takes calls at, on 127.0.0.1
		// WarmGroup replaces Group for the runners of a call on warm hosts, whose holders use Group.
		WarmGroup int `json:"warm_group"`
	} `json:"ports"`
	// Names are of what a cluster has.
	Names struct {
		Outcome  string `json:"outcome"`   // the annotation with the end of a LeaderWorkerSet
		GroupKey string `json:"group_key"` // the variable with the secret that the hosts of a job share
		WarmKey  string `json:"warm_key"`  // the variable with the secret by which a warm host knows its clients
		Netrc    string `json:"netrc"`     // the variable with the credentials for indexes of packages
	} `json:"names"`
	// Pathways are facts about the Pathways runtime.
	Pathways struct {
		Python string `json:"python"` // the oldest that pathwaysutils works with (its pyproject.toml, 0.1.11)
		JAX    string `json:"jax"`    // the same
		// From NewerJAX on, pathwaysutils needs NewerPython (its tests).
		NewerPython string `json:"newer_python"`
		NewerJAX    string `json:"newer_jax"`
		Manager     string `json:"manager"` // the container of the resource manager, a sidecar of host 0
		Proxy       string `json:"proxy"`   // another one
		Worker      string `json:"worker"`  // the container of a TPU host
	} `json:"pathways"`
	// Parts are what users and sentences call the containers of the Pathways runtime. That of a TPU host has its number.
	Parts struct {
		Manager      string `json:"manager"`
		Proxy        string `json:"proxy"`
		Worker       string `json:"worker"`
		ManagerTitle string `json:"manager_title"`
		ProxyTitle   string `json:"proxy_title"`
		WorkerTitle  string `json:"worker_title"`
	} `json:"parts"`
	// Defaults are what neither an index nor a command line has to say.
	Defaults struct {
		Mode           uint32 `json:"mode"`            // permission bits of a file of a bundle
		MaxDisruptions int    `json:"max_disruptions"` // the runner's
		CacheSize      int64  `json:"cache_size"`      // the runner's, in bytes
	} `json:"defaults"`
	// Ages are those from which objects are renewed that are there already, in seconds.
	Ages struct {
		Blob    int64 `json:"blob"`    // by a client
		Set     int64 `json:"set"`     // a copied data set's blobs, by the runner: less, so a document that a client trusts never vouches for older ones
		Mounted int64 `json:"mounted"` // a file that pods mount
	} `json:"ages"`
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
