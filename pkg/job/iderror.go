package job

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// IDError says that a word names no job, or more than one.
type IDError struct {
	// Left is the job if it was cleaned up, except for its outputs, else nil. It has neither a handle nor a workload.
	Left *Job

	msg string
	// kind is "" for a job that is not found; next is a command to type, or what else to do.
	kind api.ErrorKind
	next string
}

func (e *IDError) Error() string { return e.msg }

// Kind implements what pkg/cmd/cli asks an error for.
func (e *IDError) Kind() api.ErrorKind { return cmp.Or(e.kind, api.KindJobNotFound) }

// Next returns what to do.
func (e *IDError) Next() string { return e.next }

// shownCandidates is how many jobs an error lists, at most.
const shownCandidates = 10

// ambiguousID says which jobs match a word: the candidates or, if there are none, some of hits.
func ambiguousID(word string, hits []string, candidates []api.JobSummary, now time.Time) string {
	if len(candidates) == 0 {
		return fmt.Sprintf("job %q: %d jobs match, such as %s; be more specific", word, len(hits), strings.Join(hits[:min(len(hits), 3)], ", "))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "job %q: %d jobs match; be more specific:", word, len(candidates))
	width := 0
	for _, e := range candidates {
		width = max(width, len(e.ID))
	}
	for _, e := range candidates[:min(len(candidates), shownCandidates)] {
		fmt.Fprintf(&b, "\n  %-*s  %-9s  %s", width, e.ID, cmp.Or(e.Word(), "UNKNOWN"), age(e.Created, now))
	}
	if more := len(candidates) - shownCandidates; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

func age(created, now time.Time) string {
	if created.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(now.Sub(created), 0))
}

// unknownID says that no job has this name. flags are what a command needs to list the jobs.
func unknownID(word string, ids []string, flags string) string {
	text := notFound(word, ids, flags)
	if strings.HasSuffix(store.WithoutTime(word), "-"+api.WarmName) && !strings.Contains(flags, "--local") {
		text += "; IDs of warm hosts are for kubectl kinetic jobs warm" + flags
	}
	return text
}

func notFound(word string, ids []string, flags string) string {
	if len(ids) == 0 {
		return fmt.Sprintf("job %q not found: there are no jobs here", word)
	}
	near := nearIDs(word, ids, 3)
	if len(near) == 0 {
		return fmt.Sprintf("job %q not found; list jobs with kubectl kinetic jobs list --all%s", word, flags)
	}
	return fmt.Sprintf("job %q not found; similar: %s", word, strings.Join(near, ", "))
}

// nearIDs returns up to n ids that are similar to a word. It also compares without the time in an id,
// which no one types. Of ids that differ only in their time, it then returns the newest.
func nearIDs(word string, ids []string, n int) []string {
	newest := map[string]string{}
	for _, id := range ids { // sorted, so that the last is the newest
		newest[store.WithoutTime(id)] = id
	}
	candidates := slices.Concat(ids, slices.Collect(maps.Keys(newest)))
	var near []string
	for _, c := range human.Nearest(word, candidates, len(candidates)) {
		if id, ok := newest[c]; ok {
			c = id
		}
		if !slices.Contains(near, c) && len(near) < n {
			near = append(near, c)
		}
	}
	return near
}
