package cloudbuild

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// FailedError says that a build has failed, or was ended.
type FailedError struct {
	Build  Build
	Reason string   // why, in a few words
	Advice string   // what to do, "" if only the log says it
	Lines  []string // of the log, that explain it
}

// Error returns the reason, the lines, and what to do.
func (e *FailedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "building %s in Cloud Build: %s", e.Build.Image, e.Reason)
	if len(e.Lines) > 0 {
		b.WriteString(":\n  " + strings.Join(e.Lines, "\n  ") + "\n")
	} else {
		b.WriteString("; ")
	}
	if e.Advice != "" {
		b.WriteString(e.Advice + "; ")
	}
	fmt.Fprintf(&b, "the whole log is at %s", e.Build.URL)
	return b.String()
}

// failed explains the end of a build that has no image.
func failed(build Build, account string, b *cloudbuildpb.Build, log []string) *FailedError {
	e := &FailedError{Build: build}
	e.Build.URL = cmp.Or(b.GetLogUrl(), build.URL)
	switch b.GetStatus() {
	case cloudbuildpb.Build_TIMEOUT:
		e.Reason = fmt.Sprintf("it took longer than %s", b.GetTimeout().AsDuration())
		e.Advice = "install less, or use --image prebuilt: then the pod installs the packages"
		e.Lines = last(clean(log))
	case cloudbuildpb.Build_CANCELLED:
		e.Reason, e.Advice = "it was cancelled", "run it again to build the image after all"
	case cloudbuildpb.Build_EXPIRED:
		e.Reason = fmt.Sprintf("it waited for longer than %s for a machine", b.GetQueueTtl().AsDuration())
		e.Advice = "try again later, or ask for quota for more builds at a time"
	case cloudbuildpb.Build_INTERNAL_ERROR:
		e.Reason, e.Advice = "Cloud Build itself failed", "try again"
		e.Lines = Explain(log, b)
	default:
		e.Reason = "it failed"
		e.Lines = Explain(log, b)
		if found, _ := find(clean(log)); found != nil {
			e.Reason, e.Advice = found.reason, strings.ReplaceAll(found.advice, "ACCOUNT", account)
		}
	}
	return e
}

// Explain returns the few lines that explain why a build failed: of the error if it is a known
// one, else the last that the failing command has written, else what Cloud Build says.
func Explain(log []string, b *cloudbuildpb.Build) []string {
	lines := clean(log)
	if _, found := find(lines); found != nil {
		return found
	}
	if block := failing(lines); block != nil {
		return last(block)
	}
	if said := cmp.Or(b.GetFailureInfo().GetDetail(), b.GetStatusDetail()); said != "" {
		return append(last(lines), said)
	}
	return last(lines)
}

// find returns the cause of a failure and its lines. What the failing command has said last
// counts more than what was said before.
func find(lines []string) (*cause, []string) {
	for _, region := range [][]string{failing(lines), lines} {
		for _, c := range causes() {
			for i := len(region) - 1; i >= 0; i-- {
				if c.shows(region[i]) {
					return &c, c.from(region, i)
				}
			}
		}
	}
	return nil, nil
}

// head matches the line with which uv or pip begins an error of several paragraphs.
const head = `^ *× |^ERROR: Cannot install `

// from returns the lines of a cause that begins at i: with those that are indented, which
// continue it, its neighbours before if it has several lines, and the head of the error.
func (c *cause) from(lines []string, i int) []string {
	begin := i
	for begin > 0 && i-begin < c.lines-1 && c.shows(lines[begin-1]) {
		begin--
	}
	end := i + 1
	for end < len(lines) && end-begin < c.lines && continues(lines[end]) {
		end++
	}
	found := trimmed(lines[begin:end])
	for i := begin; i >= max(0, begin-headed); i-- {
		if lazyregexp.Of(head).MatchString(lines[i]) {
			if i < begin {
				found = append(trimmed(lines[i:i+1]), found...)
			}
			break
		}
	}
	return found
}

// headed is how many lines before a cause the head of its error may be.
const headed = 10

// continues reports whether a line belongs to the one before it.
func continues(line string) bool {
	return strings.TrimSpace(line) != "" && strings.IndexAny(line, " \t│╰├|") == 0 || strings.HasPrefix(line, "hint:")
}

// prefixed matches what Cloud Build and BuildKit write before a line: the step, and in it the
// step of the Dockerfile and the time, and for the last error that there was one.
const (
	prefixed = `^(?:Step #\d+(?: - "[^"]*")?: )?(?:#\d+ )?(?:\d+\.\d+ )?(?:ERROR: (?:failed to build: )?failed to solve: )?`
	escapes  = "\x1b\\[[0-9;?]*[A-Za-z]"
)

// longest is how many bytes of a line are shown.
const longest = 2000

// clean returns lines as the commands have written them.
func clean(log []string) []string {
	lines := make([]string, 0, len(log))
	for _, line := range log {
		line = line[:min(len(line), longest)]
		line = lazyregexp.Of(escapes).ReplaceAllString(strings.TrimRight(line, "\r"), "")
		line = line[strings.LastIndexByte(line, '\r')+1:] // of a progress bar, its last state
		lines = append(lines, strings.ToValidUTF8(lazyregexp.Of(prefixed).ReplaceAllString(line, ""), "?"))
	}
	return lines
}

const rule = "------"

// failing returns what the failing command has written last, as BuildKit repeats it: between
// two rules, after a line with the command; nil if there is none.
func failing(lines []string) []string {
	end := len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] != rule {
			continue
		}
		if i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "> ") && end > i+2 {
			return lines[i+2 : end]
		}
		end = i
	}
	return nil
}

// noise matches lines that say no more than that the build failed.
const noise = `^(ERROR|PUSH|DONE|-+|Dockerfile:\d+|ERROR: build step \d+ .* failed: .*)?$`

// last returns the last lines that say something.
func last(lines []string) []string {
	said := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return lazyregexp.Of(noise).MatchString(strings.TrimSpace(line)) })
	return trimmed(said[max(0, len(said)-8):])
}

// trimmed returns lines without the blanks that all of them begin with.
func trimmed(lines []string) []string {
	indent := -1
	for _, line := range lines {
		if n := len(line) - len(strings.TrimLeft(line, " ")); indent < 0 || n < indent {
			indent = n
		}
	}
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		out = append(out, strings.TrimRight(line[indent:], " \t"))
	}
	return out
}
