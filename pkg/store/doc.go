// Package store keeps what a job consists of and what it leaves behind, in a directory
// (file://) or a Cloud Storage bucket (gs://). All writes are atomic: a reader sees an
// object whole or not at all.
//
// Below it, records are the documents that a job leaves about itself, with
// the results of a map, expiry has the rules by
// which a bucket deletes objects, prune deletes what no job has used lately, and storetest
// is a bucket for tests.
//
// A value's way: names.go names every object, once; Store writes it; the runner in the pod
// reads and writes the same names.
package store
