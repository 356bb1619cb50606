package logs

// What a pod prints behind its log. The runner has the same two texts; neither
// is in the parts of the log that it stores.
const (
	endLineBegin, endLineEnd = "kinetic: job ", " has ended"
	// NoLineEnd stands behind the last line of a call that did not end it: that
	// line's end is not the call's own.
	NoLineEnd = " [no line end]"
)

// EndLine is the very last line of a job's last pod. A hint, and no more: any
// program may print it.
func EndLine(id string) string { return endLineBegin + id + endLineEnd }
