// Package logs reads what jobs printed. Read reads from the pods of a job, which a Source
// gives access to, and takes what they no longer have from an Archive. Stored reads the parts
// that the runner uploaded to the store, and merges those of several hosts in the order of their
// stamps (merge.go). File reads the growing log file of a local job.
//
// The runner stores a log with a stamp and marks. Each line begins with its stamp: the time in
// UTC, 27 characters as in 2026-11-20T08:20:19.123456Z, and one space. Marks distinguish
// standard output from standard error, and pieces of lines from whole lines. A Decoder removes
// stamps and marks, and writes to what package display shows.
package logs
