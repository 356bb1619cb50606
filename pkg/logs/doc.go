// Package logs reads what jobs printed: from the growing file of a job on this
// machine, or from the parts that the runner left in the store.
//
// The runner keeps a log in stamped form: each line begins with the time at
// which it was begun, 27 characters of UTC as in 2026-11-20T08:20:19.123456Z,
// and one space. Decoder takes the stamps off again. Terminal and Plain are the
// last step, in front of the reader: what a log holds was written by someone
// else and must not steer a terminal.
package logs
