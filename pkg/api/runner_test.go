package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/runner/runnertest"
)

func TestOutcomeIsOneOfOurAnnotations(t *testing.T) {
	if !strings.HasPrefix(Contract.Names.Outcome, AnnotationPrefix) {
		t.Errorf("the annotation is %s, want it to begin with %s", Contract.Names.Outcome, AnnotationPrefix)
	}
}

func TestRunnerHasTheSameNames(t *testing.T) {
	runnertest.Compare(t, map[string]string{
		"retry_on('crash')":      string(RetryOnCrash),
		"retry_on('error')":      string(RetryOnError),
		"FLAGS['--retry-on'][1]": string(RetryOnCrash),
	}, "options")
}

// A call that was stopped because of another host is never how a job ends, and a cancel is the client's word.
func TestRunnerHasTheSameReasons(t *testing.T) {
	const all = `sorted(value for name, value in globals().items() if name.isupper() and type(value) is str)`
	want := slices.Sorted(maps.Keys(Contract.Reasons))
	got := append(runnertest.Eval[[]string](t, all, "outcome"), string(Cancelled))
	got = slices.DeleteFunc(got, func(r string) bool { return r == "Stopped" })
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-the contract +the runner's):\n%s", diff)
	}
	ours := []Reason{
		BadData, BadEnvironment, BadPayload, BadResult, Cancelled, Completed, DeadlineExceeded, Disrupted, Exception, ExitCode, Killed,
		NoProgram, RunnerFailure, Terminated,
	}
	if diff := cmp.Diff(want, asStrings(ours)); diff != "" {
		t.Errorf("reasons (-the contract +ours):\n%s", diff)
	}
	for reason, want := range map[Reason]int{Completed: 0, Killed: int(Contract.Exits.Killed), Cancelled: int(Contract.Exits.Terminated), ExitCode: 1, "unheard of": 1} {
		if got := reason.Code(); got != want {
			t.Errorf("%s has the exit code %d, want %d", reason, got, want)
		}
	}
}

func asStrings(reasons []Reason) (texts []string) {
	for _, r := range reasons {
		texts = append(texts, string(r))
	}
	return texts
}

func TestRunnerNamesUnsavedOutputs(t *testing.T) {
	runnertest.Compare(t, map[string]End{
		"unsaved_fields([Unsaved('a', 3, 'it was killed')])": {Unsaved: []Unsaved{{Path: "a", Size: 3, Why: "it was killed"}}, UnsavedTotal: 1},
		"unsaved_fields([])": {},
	}, "publish", "outcome")
}

func TestRunnerWritesTheSameMetadata(t *testing.T) {
	at := time.Date(2026, 4, 17, 15, 30, 12, 0, time.UTC)
	end := End{State: Failed, Reason: Killed, Started: at, Finished: at.Add(time.Minute)}
	document := fmt.Sprintf(`{"state": "FAILED", "reason": "Killed", "message": "m", "started": %q, "finished": %q}`,
		end.Started.Format(time.RFC3339), end.Finished.Format(time.RFC3339))
	runnertest.Compare(t, map[string]map[string]string{
		"end_metadata(" + document + ")":                    end.Metadata(),
		"verdict(Outcome(COMPLETED, 0), '')":                Verdict{OK: true}.Metadata(),
		"verdict(Outcome(COMPLETED, 0), 'results/3-2.pkl')": Verdict{OK: true, Pickled: true}.Metadata(),
		"verdict(Outcome(EXCEPTION, 1), '')":                Verdict{}.Metadata(),
	}, "publish", "maps.runner", "outcome")
}

// The runner puts a copy where the manifest mounts it from.
func TestRunnerHasTheSameKeys(t *testing.T) {
	for name, d := range map[string]Data{
		`Input("", "/m", "", "copy", "", "gs://b/f", "", "")`: {Mount: "/m", Access: AccessCopy, URL: "gs://b/f"},
		`Input("x", "", "", "copy", "ab12", "", "", "a")`:     {Name: "x", Access: AccessCopy, Set: "ab12", File: "a"},
	} {
		if got := runnertest.Eval[string](t, "key_of("+name+")", "data"); got != d.Key() {
			t.Errorf("%s: the runner has the key %q, the client %q", name, got, d.Key())
		}
	}
}
