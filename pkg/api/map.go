package api

// Map is how a function that is called once for each of many inputs is spread over
// pods: each makes the calls of one chunk of inputs that follow each other.
type Map struct {
	// InputsSHA256 names the blob of the inputs: a JSON value a line, each line ended
	// by a newline.
	InputsSHA256 string `json:"inputs_sha256"`
	// Inputs is how many there are, counted from 0.
	Inputs int `json:"inputs"`
	// Chunk is how many of them a pod has, but for the last one; at least 1.
	Chunk int `json:"chunk"`
	// Parallelism is how many pods run at a time, at least 1.
	Parallelism int `json:"parallelism"`
}

// MaxChunks is how many pods a map has at most: Kubernetes counts no more of them
// one by one.
const MaxChunks = 100_000

// Chunks is how many there are.
func (m Map) Chunks() int { return (m.Inputs + m.Chunk - 1) / m.Chunk }

// ChunkOf is the chunk, from 0, that an input is in.
func (m Map) ChunkOf(input int) int { return input / m.Chunk }
