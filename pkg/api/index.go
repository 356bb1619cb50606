package api

// NamesBase64 is the value of Index.Names for names that JSON can't hold.
const NamesBase64 = "base64"

// Index lists the contents of a bundle, or of a part of a data set, and where its bytes are.
// It is stored as a gzip-compressed JSON blob and named in the manifest by the SHA-256 of
// those compressed bytes; everything it refers to is named by SHA-256, too.
type Index struct {
	Version int `json:"version"`
	// Names is NamesBase64 if a name isn't UTF-8 or has a backslash: then every path and
	// target is the base64 of its bytes.
	Names string `json:"names,omitempty"`
	// Blobs are the content-addressed objects the files are cut from.
	Blobs []IndexBlob `json:"blobs"`
	// Files are sorted by Path, before it is encoded.
	Files []IndexFile `json:"files"`
	// Links are the symlinks, sorted by Path. A bundle has none.
	Links []IndexLink `json:"links,omitempty"`
	// Dirs are the directories with no files below them, sorted.
	Dirs []string `json:"dirs,omitempty"`
}

// IndexBlob is one object of the store.
type IndexBlob struct {
	// SHA256 is the hash of the bytes as stored, in lower-case hex.
	SHA256 string `json:"sha256"`
	// Size is the number of bytes as stored.
	Size int64 `json:"size"`
	// Encoding is "gzip" for a pack of small files, "" for bytes that are stored as they
	// are: one large file, a part of one, or a pack that compression doesn't make smaller.
	Encoding string `json:"encoding,omitempty"`
}

// IndexFile is one regular file.
type IndexFile struct {
	// Path is relative to the root, with forward slashes.
	Path string `json:"path"`
	// Mode is the permission bits; 0 means Contract.Defaults.Mode.
	Mode uint32 `json:"mode,omitempty"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// Blob is an index into Index.Blobs. Offset is the position of the file's first byte in
	// the decoded blob. A pack holds its files one after the other, in the order of Files.
	Blob   int   `json:"blob,omitempty"`
	Offset int64 `json:"offset,omitempty"`
	// Parts are the blobs of a file of more than Contract.Limits.Part, one after the other. Such a
	// file has no Blob and Offset.
	Parts []int `json:"parts,omitempty"`
}

// IndexLink is one symlink.
type IndexLink struct {
	// Path is like that of a file.
	Path string `json:"path"`
	// Target is relative to the link's directory. It stays below the root: it has ".." only
	// at its beginning.
	Target string `json:"target"`
}

// MaxShardFiles limits the files, links and directories of one index of a data set.
const MaxShardFiles = 32 << 10

// DataSet describes a tree of data that may be too large for one Index. It is stored as a
// JSON blob, whose SHA-256 names the data set.
type DataSet struct {
	Version int `json:"version"`
	// Files and Bytes are those of all shards.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Shards hold the files, divided by the hash of their paths, so that an edit changes
	// one of them.
	Shards []SetShard `json:"shards"`
}

// TreeVersion is the version of TreeRecord that this code writes.
const TreeVersion = 1

// TreeRecord says that all files of a data set are in the store under their own names.
type TreeRecord struct {
	Version int `json:"version"`
	// Files and Bytes are those of the DataSet.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// SetShard is a part of a data set: an Index.
type SetShard struct {
	// SHA256 and Size are those of the stored index.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	// Files and Bytes count what is in it.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}
