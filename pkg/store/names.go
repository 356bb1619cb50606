package store

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// The names of all objects of a store, relative to its URL, are here and, as far as the runner knows them, too, in
// the contract with it.
var names = api.Contract.Objects

const (
	collectedName = "collected.json"
	// The Python tool's jobs are in the same place, with these names instead.
	pythonResultName = "result.pkl"
	pythonOutputsDir = "outputs/"
)

const (
	sha256Pattern = `^[0-9a-f]{64}$`
	dataPattern   = `^[0-9a-f]{16,64}$`
)

// Blob returns the name of the content-addressed object with a SHA-256 in lower-case hex.
func Blob(sha256 string) string { return fmt.Sprintf(names.Blob, sha256, sha256) }

// prefix returns what is before the first value of a format.
func prefix(format string) string {
	before, _, _ := strings.Cut(format, "%")
	return before
}

// Blobs returns the prefix of the content-addressed objects.
func Blobs() string { return prefix(names.Blob) }

// Data returns the prefix of the directories that pods mount.
func Data() string { return prefix(names.Data) }

// DataTree returns the prefix of the files of a directory that pods mount, which the SHA-256 of
// its data set names.
func DataTree(sha256 string) string { return fmt.Sprintf(names.Data, sha256) }

// DataRecord returns the name of the record that such a directory is complete.
func DataRecord(sha256 string) string { return fmt.Sprintf(names.DataRecord, sha256) }

// Shared returns what an object belongs to that jobs share, and that is deleted as a whole: the
// content-addressed object itself, or the directory that pods mount, with a slash at its end. Its
// record, which is written last, belongs to it. Shared is "" for any other name.
func Shared(name string) string {
	if sha256 := path.Base(name); lazyregexp.Of(sha256Pattern).MatchString(sha256) && name == Blob(sha256) {
		return name
	}
	rest, data := strings.CutPrefix(name, Data())
	hash, _, found := strings.Cut(rest, "/")
	if !found {
		hash, found = strings.CutSuffix(rest, ".json")
	}
	if !data || !found || !lazyregexp.Of(dataPattern).MatchString(hash) {
		return ""
	}
	return DataTree(hash)
}

// Handle returns the name of the persisted description of a job.
func Handle(id string) string { return fmt.Sprintf(names.Handle, id) }

// Call returns the name of the job's call.
func Call(id string) string { return fmt.Sprintf(names.Call, id) }

// Payload returns the name of the pickle of a job's call.
func Payload(id string) string { return fmt.Sprintf(names.Payload, id) }

// Result returns the name of the job's result.
func Result(id string) string { return fmt.Sprintf(names.Result, id) }

// Results returns the prefix of the results of a map.
func Results(id string) string { return fmt.Sprintf(names.Results, id) }

// ResultOf returns the name of the result of one input of a map, counted from 0.
func ResultOf(id string, input int) string { return fmt.Sprintf(names.InputResult, id, input) }

// Hashes returns the name of the list of the hashes of a chunk's pickles that an attempt left.
func Hashes(id string, chunk, attempt int) string {
	tail := ""
	if attempt > 1 {
		tail = fmt.Sprintf("-%d", attempt)
	}
	return fmt.Sprintf(names.Hashes, id, chunk, tail)
}

// Pickle returns the name of the object that Result.Pickle names: result.pkl,
// result-2.pkl of a later attempt, or results/0.pkl of an input of a map. It is always in
// the job's directory.
func Pickle(id, name string) string { return path.Join(id, path.Join("/", name)) }

// End returns the name of the record of how the job ended.
func End(id string) string { return fmt.Sprintf(names.End, id) }

// Collected returns the name of the record that the result was delivered and the workload
// deleted.
func Collected(id string) string { return path.Join(id, collectedName) }

// Environment returns the name of the list of wheels that the job's requirements resulted
// in, if a pod resolved them.
func Environment(id string) string { return fmt.Sprintf(names.Environment, id) }

// Attempts returns the prefix of the records of all starts.
func Attempts(id string) string { return fmt.Sprintf(names.Attempts, id) }

// AttemptsOfChunk returns the prefix of the records of the starts of one chunk of a map.
func AttemptsOfChunk(id string, chunk int) string { return fmt.Sprintf("%s%d-", Attempts(id), chunk) }

// Logs returns the prefix of the log parts of all hosts.
func Logs(id string) string {
	before, _, _ := strings.Cut(names.LogPart, "%d")
	return fmt.Sprintf(before, id)
}

// LogsOfHost returns the prefix of the log parts of one host.
func LogsOfHost(id string, host int) string { return fmt.Sprintf("%s%d/", Logs(id), host) }

// LogsOf returns the prefix of the log parts of a host in one attempt.
func LogsOf(id string, host, attempt int) string {
	return fmt.Sprintf("%s%d-", LogsOfHost(id, host), attempt)
}

// LogPart returns the name of the part-th piece (from 1) of a host's log in one attempt.
func LogPart(id string, host, attempt, part int) string {
	return fmt.Sprintf(names.LogPart, id, host, attempt, part)
}

// PartLog returns the name of the end of the log of a part of the Pathways runtime, in an attempt that failed.
func PartLog(id string, attempt int, part string) string {
	return fmt.Sprintf(names.PartLog, id, attempt, part)
}

// WarmCalls returns the prefix of the records of the calls that a warm host was given.
func WarmCalls(host string) string { return fmt.Sprintf(names.WarmCalls, host) }

// WarmCall returns the name of the record that a call was given to a warm host.
func WarmCall(host, id string) string { return WarmCalls(host) + id }

// Outputs returns the prefix of what the job wrote to KINETIC_OUTPUT_DIR.
func Outputs(id string) string { return fmt.Sprintf(names.Outputs, id) + "/" }

// SyncFolder begins the names of the runner's records of outputs with their objects, relative to the home of the
// outputs.
func SyncFolder() string { return prefix(names.Index) }

// IncompleteFolder begins the names of the files that were not finished, relative to the home of the outputs.
func IncompleteFolder() string { return prefix(names.Incomplete) }

// OutputsHome returns the prefix of what the runner keeps about outputs: in the job's directory, or below
// an --output-dir in a bucket.
func OutputsHome(id string, elsewhere bool) string {
	if elsewhere {
		return fmt.Sprintf(names.HomeElsewhere, id) + "/"
	}
	return id + "/"
}

// IsKinetic reports whether a name below an --output-dir is that of something other than an output.
func IsKinetic(name string) bool { return strings.HasPrefix(name, prefix(names.HomeElsewhere)) }

// SyncDir returns the prefix of the indexes of a job's outputs, one for each host or input, and of their objects.
func SyncDir(id string) string { return id + "/" + SyncFolder() }

// Sync returns the name of the index of the outputs of a host, or in a map of an input.
func Sync(id string, number int) string { return id + "/" + fmt.Sprintf(names.Index, number) }

// SyncNumber returns the number of the host or input whose index has this name relative to the home of the outputs.
func SyncNumber(name string) (number int, ok bool) {
	if !syncPattern().MatchString(name) {
		return 0, false
	}
	before, after, _ := strings.Cut(names.Index, "%d")
	number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, before), after))
	return number, err == nil
}

// HashOf returns the SHA-256 that the runner noted with an output, "" if it didn't.
func HashOf(o Object) string { return o.Metadata[api.Contract.Metadata.Hash] }

// WrittenBy returns the ID of the job whose runner has written an output, "" if it was a program.
func WrittenBy(o Object) string {
	id, _, _ := strings.Cut(o.Metadata[api.Contract.Metadata.Writer], "/")
	return id
}

// WrittenByHost reports whether an output was written by the runner of the job and host, or input of a map, with a number.
func WrittenByHost(o Object, id string, number int) bool {
	return strings.HasPrefix(o.Metadata[api.Contract.Metadata.Writer], fmt.Sprintf("%s/%d/", id, number))
}

// OutputMetadata returns the metadata of an output under its plain name, as the runner writes it.
func OutputMetadata(id string, number, attempt int, sha256 string) map[string]string {
	return map[string]string{api.Contract.Metadata.Writer: fmt.Sprintf("%s/%d/%d", id, number, attempt), api.Contract.Metadata.Hash: sha256}
}

// IsSyncObject reports whether a name, relative to the home of the outputs, is that of an object of the index with a number.
func IsSyncObject(name string, number int) bool {
	return strings.HasPrefix(name, fmt.Sprintf(names.IndexObjects, number))
}

// PythonResult returns the name of the result of a job of keras-kinetic.
func PythonResult(id string) string { return path.Join(id, pythonResultName) }

// PythonOutputs returns the prefix of what a job of keras-kinetic wrote to
// KINETIC_OUTPUT_DIR.
func PythonOutputs(id string) string { return pythonOutputsDir + id + "/" }

// What the names of a map's attempts begin with, and the names of what comes from a later attempt have at their end.
const ofChunk, later = `(\d+-)?`, `(-\d+)?`

// partPattern matches the parts of the Pathways runtime that have a log.
const partPattern = `(rm|proxy|worker-\d+)`

// form returns a regular expression for the names that a format makes, relative to a job's directory. word is the pattern of
// each %s after the ID.
func form(format, word string) string {
	text := regexp.QuoteMeta(strings.TrimPrefix(format, "%s/"))
	return strings.ReplaceAll(strings.ReplaceAll(text, "%d", `\d+`), "%s", word)
}

// anyOf returns the pattern of the names that one of the regular expressions matches.
func anyOf(forms ...string) func() *regexp.Regexp {
	text := "^(" + strings.Join(forms, "|") + ")$"
	return func() *regexp.Regexp { return lazyregexp.Of(text) }
}

// The records of a job, relative to its directory: all that it stores except its outputs.
var (
	recordPattern = anyOf(form(names.Handle, ""), form(names.Call, ""), form(names.Payload, ""), form(names.Result, ""), form(names.End, ""),
		form(names.Environment, ""), form(collectedName, ""), form(names.Attempt, ofChunk), form(names.LogPart, ""), form(names.PartLog, partPattern), form(names.Pickle, later),
		form(names.InputResult, ""), form(names.InputTries, ""), form(names.InputPickle, later), form(names.Hashes, later))
	// tracePattern matches the records that hardly anything but a job has.
	tracePattern = anyOf(form(names.Call, ""), form(names.Result, ""), form(names.End, ""), form(names.Attempt, ""), form(names.LogPart, ""))
)

// IsRecord reports, by its name, whether an object in a job's directory is one of the
// job's records, rather than an output or someone else's object.
func IsRecord(id, name string) bool {
	rest, below := strings.CutPrefix(name, id+"/")
	return below && (recordPattern().MatchString(rest) || lazyregexp.Of(pythonIDPattern).MatchString(id) && lazyregexp.Of(pythonRecordPattern).MatchString(rest))
}

// IsTrace reports whether a record shows, without a handle, that its directory is a
// job's. If a program made the ID, all records do.
func IsTrace(id, name string) bool {
	rest, below := strings.CutPrefix(name, id+"/")
	return IsRecord(id, name) && IsMadeID(id) || below && tracePattern().MatchString(rest)
}

var (
	syncPattern = anyOf(form(names.Index, ""))
	keptPattern = anyOf(form(names.Index, ""), form(names.IndexObjects, "")+".+", form(names.Incomplete, "")+".+")
)

// IsIndex reports, by its name, whether an object is an index of a job's outputs.
func IsIndex(id, name string) bool {
	rest, below := strings.CutPrefix(name, id+"/")
	return below && syncPattern().MatchString(rest)
}

// IsSync reports, by its name, whether an object belongs to what the runner keeps about a job's outputs. It is
// deleted with the outputs.
func IsSync(id, name string) bool {
	rest, below := strings.CutPrefix(name, id+"/")
	return below && keptPattern().MatchString(rest)
}

// checkName rejects names that some store can't have.
func checkName(name string) error {
	for element := range strings.SplitSeq(name, "/") {
		if element == "" || element == "." || element == ".." || strings.ContainsRune(element, 0) {
			return fmt.Errorf("object name %q: expected elements separated by single slashes, none of them empty, %q or %q", name, ".", "..")
		}
	}
	return nil
}

// The end of the IDs that this program makes, with the time and seven digits; and all IDs
// of keras-kinetic.
const (
	idTail          = `-\d{8}-\d{6}-[0-9a-f]{7}$`
	pythonIDPattern = `^job-[0-9a-f]{8}$`
	// The records of keras-kinetic.
	pythonRecordPattern = `^(handle\.json|payload\.pkl|context\.zip|requirements\.txt|result(-worker-\d+)?\.pkl|\.(debug|leader)_ready)$`
)

// IsMadeID reports whether a program made an ID, rather than a person.
func IsMadeID(id string) bool {
	return lazyregexp.Of(idTail).MatchString(id) || lazyregexp.Of(pythonIDPattern).MatchString(id)
}

// WithoutTime returns an ID without its time and unique ending.
func WithoutTime(id string) string { return lazyregexp.Of(idTail).ReplaceAllString(id, "") }

// ShortID returns the end of an ID that this program made, which commands take as well; any other ID as it is.
func ShortID(id string) string {
	const unique = "abc1234"
	if !lazyregexp.Of(idTail).MatchString(id) {
		return id
	}
	return id[len(id)-len(unique):]
}

// TimeOf returns the time in an ID that this program made, zero for any other ID. It is fast, for
// thousands of them.
func TimeOf(id string) time.Time {
	const layout, unique = "-20060102-150405", "-abc1234"
	tail := id[max(0, len(id)-len(layout+unique)):]
	if len(tail) < len(layout+unique) || tail[len(layout)] != '-' || strings.Trim(tail[len(layout)+1:], "0123456789abcdef") != "" {
		return time.Time{}
	}
	t, err := time.Parse(layout, tail[:len(layout)])
	if err != nil {
		return time.Time{}
	}
	return t
}

// CheckID rejects anything that must never become part of a path.
func CheckID(id string) error {
	if !lazyregexp.Of("^" + api.Contract.IDs.Pattern + "$").MatchString(id) {
		return fmt.Errorf("job ID %q: expected 2 to 50 lower-case letters, digits and '-', with a letter or digit at both ends", id)
	}
	if slices.Contains(api.Contract.IDs.Reserved, id) {
		return fmt.Errorf("job ID %q is a reserved word", id)
	}
	return nil
}

// WarmInbox returns the prefix of the connections to a pod of a warm host through the store.
func WarmInbox(host string, number int) string { return fmt.Sprintf(names.WarmInbox, host, number) }
