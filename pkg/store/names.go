package store

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

// The names of all objects of a store, relative to its URL, stand in this file
// and nowhere else. The runner has the same table.
const (
	blobPrefix    = "blobs/sha256/"
	handleName    = "handle.json"
	callName      = "call.json"
	resultName    = "result.json"
	endName       = "end.json"
	collectedName = "collected.json"
	attemptsDir   = "attempts/"
	resultsDir    = "results/"
	logsDir       = "logs/"
	outputsDir    = "outputs/"
	// The Python tool's jobs lie in the same place, with these names instead.
	pythonResultName = "result.pkl"
	pythonOutputsDir = "outputs/"
)

var sha256Pattern = pattern.Lazy(`^[0-9a-f]{64}$`)

// Blob names the content-addressed object with the given SHA-256 in lower-case hex.
func Blob(sha256 string) string { return blobPrefix + sha256[:2] + "/" + sha256 }

// Handle names the persisted description of a job.
func Handle(id string) string { return path.Join(id, handleName) }

// Call names what the job runs.
func Call(id string) string { return path.Join(id, callName) }

// Result names the result of the job.
func Result(id string) string { return path.Join(id, resultName) }

// Results is the prefix of the results of a map.
func Results(id string) string { return id + "/" + resultsDir }

// ResultOf names the result of one input of a map, counted from 0.
func ResultOf(id string, input int) string { return fmt.Sprintf("%s%d.json", Results(id), input) }

// Pickle names the object of a job that Result.Pickle names: result.pkl, of a later attempt
// result-2.pkl, of an input of a map results/0.pkl. It never leaves the job's directory.
func Pickle(id, name string) string { return path.Join(id, path.Join("/", name)) }

// End names the record of how the job ended.
func End(id string) string { return path.Join(id, endName) }

// Collected names the record that the result was brought to its reader, and the workload removed.
func Collected(id string) string { return path.Join(id, collectedName) }

// Attempts is the prefix of the records of all starts.
func Attempts(id string) string { return id + "/" + attemptsDir }

// AttemptsOfChunk is the prefix of the records of the starts of one chunk of a map.
func AttemptsOfChunk(id string, chunk int) string { return fmt.Sprintf("%s%d-", Attempts(id), chunk) }

// Logs is the prefix of the log parts of all hosts.
func Logs(id string) string { return id + "/" + logsDir }

// LogsOfHost is the prefix of the log parts of one host.
func LogsOfHost(id string, host int) string { return fmt.Sprintf("%s%d/", Logs(id), host) }

// LogsOf is the prefix of the parts of what a host printed in an attempt.
func LogsOf(id string, host, attempt int) string {
	return fmt.Sprintf("%s%d-", LogsOfHost(id, host), attempt)
}

// LogPart names the part-th piece (from 1) of what a host printed in an attempt.
func LogPart(id string, host, attempt, part int) string {
	return fmt.Sprintf("%s%d.log", LogsOf(id, host, attempt), part)
}

// Outputs is the prefix of what the job wrote below KINETIC_OUTPUT_DIR.
func Outputs(id string) string { return id + "/" + outputsDir }

// PythonResult names the result of a job of the Python package.
func PythonResult(id string) string { return path.Join(id, pythonResultName) }

// PythonOutputs is the prefix of what a job of the Python package wrote below
// KINETIC_OUTPUT_DIR.
func PythonOutputs(id string) string { return pythonOutputsDir + id + "/" }

// The records of a job, below its id: all that it stores but its outputs.
var (
	recordPattern = pattern.Lazy(`^((handle|call|result|end|collected)\.json|(payload|result(-\d+)?)\.pkl|attempts/\d+(-\d+)?\.json|results/\d+(\.json|\.try|(-\d+)?\.pkl)|logs/\d+/\d+-\d+\.log)$`)
	// tracePattern are those that hardly anything but a job has.
	tracePattern        = pattern.Lazy(`^((call|result|end)\.json|attempts/\d+\.json|logs/\d+/\d+-\d+\.log)$`)
	pythonRecordPattern = pattern.Lazy(`^(handle\.json|payload\.pkl|context\.zip|requirements\.txt|result(-worker-\d+)?\.pkl|\.(debug|leader)_ready)$`)
)

// IsRecord distinguishes the objects that a job has in its directory, by their names, from
// what others have put there and from its outputs.
func IsRecord(id, name string) bool {
	rest, below := strings.CutPrefix(name, id+"/")
	return below && (recordPattern().MatchString(rest) || pythonIDPattern().MatchString(id) && pythonRecordPattern().MatchString(rest))
}

// IsTrace says the records that show, without a handle, that their directory is
// a job's. Where a program made the id, all do.
func IsTrace(id, name string) bool {
	rest, below := strings.CutPrefix(name, id+"/")
	return IsRecord(id, name) && IsMadeID(id) || below && tracePattern().MatchString(rest)
}

// checkName rejects names that not every store can have.
func checkName(name string) error {
	for element := range strings.SplitSeq(name, "/") {
		if element == "" || element == "." || element == ".." || strings.ContainsRune(element, 0) {
			return fmt.Errorf("object name %q: expected elements separated by single slashes, none of them empty, %q or %q", name, ".", "..")
		}
	}
	return nil
}

var idPattern = pattern.Lazy(`^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$`)

// What the ids end in that this program makes, the time and seven digits, and all
// ids of the Python package.
var (
	idTail          = pattern.Lazy(`-\d{8}-\d{6}-[0-9a-f]{7}$`)
	pythonIDPattern = pattern.Lazy(`^job-[0-9a-f]{8}$`)
)

// IsMadeID distinguishes the ids that programs make from those that people choose.
func IsMadeID(id string) bool { return idTail().MatchString(id) || pythonIDPattern().MatchString(id) }

// WithoutTime is an id without its time and what makes it unique.
func WithoutTime(id string) string { return idTail().ReplaceAllString(id, "") }

// TimeOf is the time in an id that this program has made, zero in any other.
func TimeOf(id string) time.Time {
	tail := idTail().FindString(id)
	if tail == "" {
		return time.Time{}
	}
	t, err := time.Parse("-20060102-150405", tail[:len("-20060102-150405")])
	if err != nil {
		return time.Time{}
	}
	return t
}

// reserved words look like ids and are, or were, directories of a store.
var reserved = map[string]bool{"blobs": true, "data": true, "outputs": true, "default": true, "_groups": true}

// CheckID rejects what must never become part of a path.
func CheckID(id string) error {
	if !idPattern().MatchString(id) {
		return fmt.Errorf("job ID %q: expected 2 to 50 lower-case letters, digits and '-', with a letter or digit at both ends", id)
	}
	if reserved[id] {
		return fmt.Errorf("job ID %q is a reserved word", id)
	}
	return nil
}
