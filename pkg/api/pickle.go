package api

// Pickle describes the pickle of what a call returned or raised.
type Pickle struct {
	// Name is that of the object, relative to the job's directory.
	Name string `json:"name"`
	// SHA256 is the hash of the object, in lower-case hex, and Size its number of bytes.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}
