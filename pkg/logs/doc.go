// Package logs reads what jobs printed. Read follows the pods of a job over a Source, and
// takes what they no longer have from an Archive; Stored reads the parts that the runner left
// in the store, and File the growing file of a job on this machine.
//
// The runner keeps a log in stored form: each line begins with its time, 27 characters of
// UTC as in 2026-11-20T08:20:19.123456Z, and one space; marks tell the two streams apart,
// and pieces of lines from whole ones. Decoder takes all of that off again, and writes to
// what package screen puts in front of the reader.
package logs
