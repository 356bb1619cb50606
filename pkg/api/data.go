package api

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Access is how the files of an input get into the pod.
type Access string

// The values of Access.
const (
	// AccessCopy copies the files to the pod's disk before the call starts.
	AccessCopy Access = "copy"
	// AccessFUSE mounts a folder of a bucket with Cloud Storage FUSE.
	AccessFUSE Access = "fuse"
	// AccessClaim mounts a PersistentVolumeClaim.
	AccessClaim Access = "claim"
	// AccessHere uses the files where they are: those of a local job.
	AccessHere Access = "here"
)

// Data is an input of a job: files that are there when the call starts. It has a Name or a
// Mount.
type Data struct {
	// Name is the argument of the function that becomes the path.
	Name string `json:"name,omitempty"`
	// Mount is the absolute path of a volume.
	Mount string `json:"mount,omitempty"`
	// Source is the source as typed.
	Source string `json:"source"`
	Access Access `json:"access"`
	// Set is the SHA-256 of a data set in the store, URL a folder or an object that the pod
	// copies: gs://BUCKET/PREFIX or hf://NAME. A copy has one of them. FUSE mounts the files
	// of a Set from the store of the job.
	Set string `json:"set,omitempty"`
	URL string `json:"url,omitempty"`
	// Bucket and Folder are what FUSE mounts, unless it is a Set; Claim and Folder are what a
	// claim does.
	Bucket string `json:"bucket,omitempty"`
	Claim  string `json:"claim,omitempty"`
	Folder string `json:"folder,omitempty"`
	// Path is where the files are if nothing is copied.
	Path string `json:"path,omitempty"`
	// File is the name of the file in it that is meant, "" for the whole directory.
	File string `json:"file,omitempty"`
	// Writable means that the job may write to what is mounted.
	Writable bool `json:"writable,omitempty"`
	// Cache is how much of a bucket FUSE keeps on the node's disk, a Kubernetes quantity.
	Cache string `json:"cache,omitempty"`
	// Files and Bytes count the files, as far as the client knows.
	Files int64 `json:"files,omitempty"`
	Bytes int64 `json:"bytes,omitempty"`
}

// Flag returns the flag that asks for the input, for messages.
func (d Data) Flag() string {
	if d.Name != "" {
		return "--data " + d.Name + "=" + d.Source
	}
	return "--volume " + d.Mount + "=" + d.Source
}

// dataDir is where the inputs are mounted that have no place of their own.
const dataDir = "/kinetic-data"

// Key identifies what is copied: inputs with the same key share one copy. It is the name of
// the copy's directory.
func (d Data) Key() string {
	sum := sha256.Sum256([]byte(d.Set + d.URL))
	return hex.EncodeToString(sum[:])[:16]
}

// MountPath returns where Kubernetes mounts the input, "" if it doesn't.
func (d Data) MountPath() string {
	switch {
	case d.Mount != "":
		return d.Mount
	case d.Access == AccessFUSE || d.Access == AccessClaim:
		return path.Join(dataDir, d.Name)
	}
	return ""
}

// EnvDataPrefix begins the names of the variables with the paths of inputs.
const EnvDataPrefix = "KINETIC_DATA_"

// Volumes returns the inputs that have a Mount, in the order of the flags.
func (s Spec) Volumes() []Data {
	return slices.DeleteFunc(slices.Clone(s.Data), func(d Data) bool { return d.Mount == "" })
}

// EnvVolumePrefix begins the names of the variables with the directories of volumes: KINETIC_VOLUME_N,
// N from 0 in the order of the flags.
const EnvVolumePrefix = "KINETIC_VOLUME_"

// VolumeVariable returns the name of the environment variable that has the directory of a volume.
func VolumeVariable(number int) string { return EnvVolumePrefix + strconv.Itoa(number) }

// Variable returns the name of the environment variable that has the path, "" for a volume.
func (d Data) Variable() string {
	if d.Name == "" {
		return ""
	}
	return EnvDataPrefix + strings.ToUpper(d.Name)
}
