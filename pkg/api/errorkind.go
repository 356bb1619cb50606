package api

// ErrorKind says in one word why a command failed, for programs. The list is closed.
type ErrorKind string

// The kinds. An error may have a method `Kind() ErrorKind`, and one `Next() string` with the
// command to type or what else to do.
const (
	KindUsage         ErrorKind = "usage"          // the command line or the input is wrong
	KindNotFound      ErrorKind = "not_found"      // what the command line names doesn't exist
	KindJobNotFound   ErrorKind = "job_not_found"  // there is no such job
	KindElsewhere     ErrorKind = "elsewhere"      // the job is in another cluster or namespace
	KindAmbiguous     ErrorKind = "ambiguous"      // it names several things where one is needed
	KindExists        ErrorKind = "exists"         // the ID is taken
	KindJobFailed     ErrorKind = "job_failed"     // the job has ended without success
	KindTimeout       ErrorKind = "timeout"        // --timeout has expired, the job keeps running
	KindInterrupted   ErrorKind = "interrupted"    // a signal ended the command
	KindForbidden     ErrorKind = "forbidden"      // credentials or rights are missing
	KindUnreachable   ErrorKind = "unreachable"    // a server does not answer
	KindUnstartable   ErrorKind = "unstartable"    // the cluster can't run the job as it is
	KindUntrusted     ErrorKind = "untrusted"      // bytes are not those that the job reported
	KindMissingResult ErrorKind = "missing_result" // the job has no result, or not any more
	KindVersion       ErrorKind = "version"        // a newer version is needed
	KindFailed        ErrorKind = "failed"         // anything else
)

// ErrorKinds lists all kinds.
func ErrorKinds() []ErrorKind {
	return []ErrorKind{KindUsage, KindNotFound, KindJobNotFound, KindElsewhere, KindAmbiguous, KindExists, KindJobFailed, KindTimeout, KindInterrupted,
		KindForbidden, KindUnreachable, KindUnstartable, KindUntrusted, KindMissingResult, KindVersion, KindFailed}
}
