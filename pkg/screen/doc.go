// Package screen writes the log of a job for its reader: Screen to a terminal, Pipe and
// Plain to a pipe or file, and Multiplexer those of several hosts as one. It is the last
// step of a log. What a log holds was written by someone else and must not steer a
// terminal.
package screen
