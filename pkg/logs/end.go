package logs

// EndLine is the very last line of a job's last pod, on standard error. The runner has
// the same text; it is in no part of the log that it stores. A hint, and no more: any
// program may print it.
func EndLine(id string) string { return "kinetic: job " + id + " has ended" }
