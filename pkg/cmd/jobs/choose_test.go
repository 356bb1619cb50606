package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// flags are those of a command on a machine with these local jobs, all of which have ended, and
// without a kubeconfig.
func flags(t *testing.T, ids ...string) *jobFlags {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{"HOME": dir, "KUBECONFIG": filepath.Join(dir, "none"), "KINETIC_STORE": "", "KINETIC_PROJECT": "",
		"XDG_DATA_HOME": dir, "XDG_STATE_HOME": dir} {
		t.Setenv(name, value)
	}
	for day, id := range ids {
		folder := filepath.Join(dir, "kinetic", "store", id)
		handle := fmt.Sprintf(`{"version":1,"job_id":%q,"backend":"local","func_name":"f","hosts":4,"user":%q,"created_at":"2026-01-0%dT00:00:00Z"}`, id, job.CurrentUser(), day+1)
		const end = `{"version":1,"state":"SUCCEEDED","reason":"Completed","by":"runner"}`
		err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "handle.json"), []byte(handle), 0o600),
			os.WriteFile(filepath.Join(folder, "end.json"), []byte(end), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	return &jobFlags{Connection: connect.NewFlags()}
}

// names are the IDs of jobs, then the errors of those that can't be found.
func names(jobs []*job.Job, failed []error) string {
	var words []string
	for _, j := range jobs {
		words = append(words, j.ID())
	}
	for _, err := range failed {
		words = append(words, "("+err.Error()+")")
	}
	return strings.Join(words, " ")
}

func TestWhatACommandLineMayName(t *testing.T) {
	sub := &cobra.Command{Use: "status ID…"}
	for name, tt := range map[string]struct {
		flags     jobFlags
		args      []string
		one, some string // what the errors say; "" is none
		many      bool
	}{
		"nothing":            {jobFlags{}, nil, "job ID required: status ID…", "job ID required: status ID…", false},
		"an ID":              {jobFlags{}, []string{"a1"}, "", "", false},
		"two IDs":            {jobFlags{}, []string{"a1", "b2"}, "takes one job, got a1 b2", "", true},
		"what is no ID":      {jobFlags{}, []string{"a/1"}, `"a/1" is not a valid job ID`, `"a/1" is not a valid job ID`, false},
		"the last":           {jobFlags{Last: true}, nil, "", "", false},
		"the last of some":   {jobFlags{Last: true, Selector: "a=b"}, nil, "", "", false},
		"those of a user":    {jobFlags{Mine: true}, nil, "", "", true},
		"those with a label": {jobFlags{Selector: "a=b"}, nil, "", "", true},
		"an ID and a flag":   {jobFlags{Mine: true}, []string{"a1"}, "takes either IDs or", "takes either IDs or", true},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(err error, want string) {
				t.Helper()
				if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || cli.CodeOf(err) != cli.ExitUsage) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
			check(tt.flags.OneID(sub, tt.args), tt.one)
			check(tt.flags.SomeIDs(sub, tt.args), tt.some)
			if got := tt.flags.MayBeSeveral(tt.args); got != tt.many {
				t.Errorf("it may name several jobs: %v", got)
			}
		})
	}
}

func TestFlagsNarrowAFilter(t *testing.T) {
	for name, tt := range map[string]struct {
		flags     jobFlags
		user, err string
	}{
		"none":                    {jobFlags{}, "", ""},
		"mine":                    {jobFlags{Mine: true}, job.CurrentUser(), ""},
		"the last":                {jobFlags{Last: true}, job.CurrentUser(), ""},
		"a label":                 {jobFlags{Selector: "sweep in (7, 8)"}, "", ""},
		"what is no selector":     {jobFlags{Selector: "a b"}, "", `--selector "a b": `},
		"a label of a local job":  {jobFlags{Selector: "a=b", Local: true}, "", "local jobs have no labels"},
		"local ones of this user": {jobFlags{Mine: true, Local: true}, job.CurrentUser(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var filter job.Filter
			err := tt.flags.ApplyTo(&filter)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			if err == nil && (filter.User != tt.user || (filter.Selector != nil) != (tt.flags.Selector != "")) {
				t.Errorf("got %+v", filter)
			}
		})
	}
}

func TestSeveral(t *testing.T) {
	for name, tt := range map[string]struct {
		ids   []string
		local bool
		want  string
	}{
		"in the order of the command line":   {[]string{"b-2", "a-1"}, true, "b-2 a-1"},
		"each once":                          {[]string{"a-1", "b-2", "a"}, true, "a-1 b-2"},
		"one is not there":                   {[]string{"a-1", "zzz", "b-2"}, true, `a-1 b-2 (job "zzz" not found; list jobs`},
		"full IDs of local jobs":             {[]string{"b-2", "a-1"}, false, "b-2 a-1"},
		"a local job, and one of no cluster": {[]string{"a-1", "zzz"}, false, "a-1 (job zzz: "},
	} {
		t.Run(name, func(t *testing.T) {
			f := flags(t, "a-1", "b-2")
			f.Local = tt.local
			found, failed, err := f.Jobs(t.Context(), tt.ids)
			if got := names(found, failed); err != nil || !strings.HasPrefix(got, tt.want) || strings.Contains(got, "(") != strings.Contains(tt.want, "(") {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	f := flags(t, "a-1", "b-2")
	if _, _, err := f.Jobs(t.Context(), []string{"zzz"}); cli.CodeOf(err) != cli.ExitUsage {
		t.Errorf("a single ID without a cluster: got %v", err)
	}
	f.Local, f.Mine = true, true
	if found, _, err := f.Jobs(t.Context(), nil); err == nil {
		t.Errorf("flags found jobs that have no workload: %s", names(found, nil))
	}
	found, failed, err := f.Matching(t.Context(), job.Filter{Stored: true})
	if got := names(found, failed); got != "b-2 a-1" || err != nil {
		t.Errorf("of this user: got %s, %v", got, err)
	}
}

func TestOne(t *testing.T) {
	f := flags(t, "a-1", "b-2")
	f.Local = true
	if j, err := f.Job(t.Context(), []string{"b"}); err != nil || j.ID() != "b-2" {
		t.Errorf("by a prefix: got %v", err)
	}
	f.Last = true
	if j, err := f.Job(t.Context(), nil); err != nil || j.ID() != "b-2" {
		t.Errorf("the last: got %v", err)
	}
}

// A hint for a command with --local lists the local jobs.
func TestHintsKeepLocal(t *testing.T) {
	sub := &cobra.Command{Use: "status ID…"}
	for _, args := range [][]string{nil, {"a/1"}} {
		for local, want := range map[bool]string{false: "kubectl kinetic jobs list", true: "kubectl kinetic jobs list --local"} {
			err := (&jobFlags{Local: local}).SomeIDs(sub, args)
			_, hint, _ := strings.Cut(err.Error(), "; list jobs with ")
			if hint, _, _ = strings.Cut(hint, ","); hint != want {
				t.Errorf("%v, local %v: %v; want %s", args, local, err, want)
			}
		}
	}
}

// Next to an error there is no job, not even one that is nil.
func TestNoJobNextToAnError(t *testing.T) {
	f := flags(t)
	f.Local = true
	found, failed, err := f.Jobs(t.Context(), []string{"zzz"})
	if found != nil || failed != nil || err == nil {
		t.Errorf("several: got %v, %v, %v", found, failed, err)
	}
	if j, err := f.Job(t.Context(), []string{"zzz"}); j != nil || err == nil {
		t.Errorf("one: got %v, %v", j, err)
	}
	f.Last = true
	if found, failed, err = f.Matching(t.Context(), job.Filter{}); found != nil || failed != nil || err == nil {
		t.Errorf("the last: got %v, %v, %v", found, failed, err)
	}
}

func TestAll(t *testing.T) {
	f := flags(t, "a-1", "b-2")
	found, failed, err := f.JobsToDelete(t.Context(), []string{"a-1", "zzz"}, job.FindOptions{})
	if len(found) != 1 || len(failed) != 1 || err != nil {
		t.Errorf("without a cluster: got %s, %v", names(found, failed), err)
	}
	f.Local = true
	found, failed, err = f.JobsToDelete(t.Context(), []string{"a-1", "zzz", "b-2"}, job.FindOptions{})
	if got := names(found, failed); !strings.HasPrefix(got, `a-1 b-2 (job "zzz" not found`) || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if _, _, err = f.JobsToDelete(t.Context(), []string{"zzz"}, job.FindOptions{}); cli.CodeOf(err) != cli.ExitUsage {
		t.Errorf("of a single ID: got %v", err)
	}
}

func TestCompletion(t *testing.T) {
	f := flags(t, "a-1", "b-2")
	one, some := &cobra.Command{Use: "result ID"}, &cobra.Command{Use: "status ID…"}
	one.SetContext(t.Context())
	some.SetContext(t.Context())
	const a, b = "a-1\tf SUCCEEDED", "b-2\tf SUCCEEDED"
	for name, tt := range map[string]struct {
		complete cobra.CompletionFunc
		sub      *cobra.Command
		args     []string
		want     []string
	}{
		"the newest first":           {f.CompleteIDs, one, nil, []string{b, a}},
		"a second ID of one":         {f.CompleteIDs, one, []string{"a-1"}, nil},
		"a second ID of some":        {f.CompleteIDs, some, []string{"a-1"}, []string{b}},
		"none that has not ended":    {f.CompleteUnended, some, nil, nil},
		"hosts":                      {f.CompleteHosts, one, []string{"a-1"}, []string{"all", "0", "1", "2", "3"}},
		"hosts of no job":            {f.CompleteHosts, one, nil, nil},
		"IDs where a flag was given": {(&jobFlags{Connection: f.Connection, Mine: true}).CompleteIDs, one, nil, nil},
	} {
		got, _ := tt.complete(tt.sub, tt.args, "")
		for i, word := range got { // without the age, which changes
			if j := strings.LastIndex(word, " "); j >= 0 {
				got[i] = word[:j]
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestByStatus(t *testing.T) {
	for words, want := range map[string]string{
		"":                           "[] false",
		"FAILED,not_found":           "[FAILED NOT_FOUND] false",
		"Cancelled":                  "[] true",
		"CANCELLED,FAILED,CANCELLED": "[FAILED] true",
		"faild":                      `--status "faild": expected one of PENDING, RUNNING, SUCCEEDED, FAILED, NOT_FOUND, CANCELLED; did you mean "FAILED"?`,
	} {
		f, err := byStatus(slices.DeleteFunc(strings.Split(words, ","), func(w string) bool { return w == "" }))
		got := fmt.Sprint(f.States, " ", f.Cancelled)
		if err != nil {
			got = err.Error()
		}
		if got != want || err != nil && cli.CodeOf(err) != cli.ExitUsage {
			t.Errorf("%s: got %s, want %s", words, got, want)
		}
	}
}
