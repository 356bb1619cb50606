// Package job does what can be done to a submitted job, wherever it runs: it lists and
// follows jobs, reads their results, cancels them and cleans up. The commands `run` and
// `jobs` share it.
//
// What runs a job is a Backend: package kube for clusters, job/local for this machine. Below
// it, logs reads what jobs printed and logs/display shows it, outputs copies their files,
// and verify decides which bytes are a result before anything unpickles them. The file
// stacks.go groups the threads of a job that do the same.
//
// A value's way: an ID or a prefix → Registry → Job, with its api.Handle from the store and a
// Backend; then Status, Logs, Result, Cancel.
package job
