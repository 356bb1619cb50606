package api

// IndexVersion is the version of Index that this code writes and reads.
const IndexVersion = 1

// Index lists the contents of a bundle and where its bytes are. It is stored as a
// gzip-compressed JSON blob and named in the manifest by the SHA-256 of those compressed
// bytes; everything it refers to is named by SHA-256, too.
type Index struct {
	Version int `json:"version"`
	// Blobs are the content-addressed objects the files are cut from.
	Blobs []IndexBlob `json:"blobs"`
	// Files are sorted by Path.
	Files []IndexFile `json:"files"`
	// Dirs are the directories with no files below them, sorted.
	Dirs []string `json:"dirs,omitempty"`
}

// IndexBlob is one object of the store.
type IndexBlob struct {
	// SHA256 is the hash of the bytes as stored, in lower-case hex.
	SHA256 string `json:"sha256"`
	// Size is the number of bytes as stored.
	Size int64 `json:"size"`
	// Encoding is "gzip" for a pack of small files, "" for one large file
	// stored as it is.
	Encoding string `json:"encoding,omitempty"`
}

// IndexFile is one regular file of the bundle.
type IndexFile struct {
	// Path is relative to the package root, with forward slashes.
	Path string `json:"path"`
	// Executable files have mode 0755, others 0644.
	Executable bool `json:"executable,omitempty"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// Blob is an index into Index.Blobs. Offset is the position of the file's first byte in
	// the decoded blob. A pack holds its files one after the other, in the order of Files.
	Blob   int   `json:"blob"`
	Offset int64 `json:"offset"`
}
