package logs

// EndLine returns the very last line that a job's last pod prints, on standard error. The
// runner contains the same text, and does not store the line. It is only a hint: any program
// can print it.
func EndLine(id string) string { return "kinetic: job " + id + " has ended" }
