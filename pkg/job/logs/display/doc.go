// Package display writes the log of a job for its reader: Screen to a terminal, Pipe and
// Plain to a pipe or file. Multiplexer writes the lines of several hosts, as they come, with
// the names of their hosts. It is the last step of a log. The content of a log is not trusted,
// so it must not control the terminal.
package display
