package api

// Pickle describes the pickle of what a call returned or raised.
type Pickle struct {
	// Name is that of the object, relative to the job's directory.
	Name string `json:"name"`
	// SHA256 is the hash of the object, in lower-case hex, and Size its number of bytes.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// ChunkHashes is what a pod of a map reported of its list of hashes, which the store has.
type ChunkHashes struct {
	Chunk   int `json:"-"`
	Attempt int `json:"attempt"`
	// SHA256 is the hash of the list, in lower-case hex.
	SHA256 string `json:"hashes"`
}
