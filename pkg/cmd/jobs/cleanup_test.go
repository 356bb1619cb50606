package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// After an interrupt, a cleanup reports what had failed, and how to remove the rest. The
// same command would not find a job that is gone by its id, nor one that has lost its
// workload by its state.
func TestInterruptedCleanup(t *testing.T) {
	stopped, forbidden := fmt.Errorf("job x: deleting: %w", context.Canceled), errors.New("job b2: forbidden")
	const same = "interrupted; rerun the command for the rest"
	const byID = same + "; these must now be named by ID: a1\n"
	for name, tt := range map[string]struct {
		flags cleanupFlags
		named bool
		errs  []error
		want  string
	}{
		"all":                         {cleanupFlags{all: true, workload: true}, false, []error{stopped, nil, errNotBegun}, same + "\n"},
		"by state":                    {cleanupFlags{status: []string{"FAILED"}, workload: true}, false, []error{stopped, nil, errNotBegun}, byID},
		"by state, before any":        {cleanupFlags{status: []string{"FAILED"}, workload: true}, false, []error{nil, nil, errNotBegun}, same + "\n"},
		"by state, workloads stay":    {cleanupFlags{status: []string{"FAILED"}, outputs: true}, false, []error{stopped, nil, errNotBegun}, same + "\n"},
		"those without workload, too": {cleanupFlags{status: []string{"failed", "not_found"}, workload: true}, false, []error{stopped, nil, errNotBegun}, same + "\n"},
		"cancelled ones":              {cleanupFlags{status: []string{"cancelled"}, workload: true, stored: true}, false, []error{stopped, nil, errNotBegun}, byID},
		"their records":               {cleanupFlags{status: []string{"cancelled"}, stored: true}, false, []error{stopped, nil, errNotBegun}, byID},
		"their workloads":             {cleanupFlags{status: []string{"cancelled"}, workload: true}, false, []error{stopped, nil, errNotBegun}, same + "\n"},
		"by id":                       {cleanupFlags{workload: true}, true, []error{stopped, nil, errNotBegun}, "interrupted; rerun the command with these IDs for the rest: a1 c3\n"},
		"after an error":              {cleanupFlags{all: true, workload: true}, false, []error{stopped, forbidden, errNotBegun}, "error: job b2: forbidden\n" + same + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var found []*job.Job
			for _, id := range []string{"a1", "b2", "c3"} {
				found = append(found, &job.Job{Handle: api.Handle{JobID: id}})
			}
			var args []string
			if tt.named {
				args = []string{"a1", "b2", "c3"}
			}
			var said bytes.Buffer
			o, err := tt.flags.toOptions(&command{streams: genericiooptions.IOStreams{ErrOut: &said}}, args)
			if err != nil {
				t.Fatal(err)
			}
			err = o.settle(found, tt.errs)
			if cli.CodeOf(err) != cli.ExitInterrupted || said.String() != tt.want {
				t.Errorf("%v, said %q, want %q", err, &said, tt.want)
			}
		})
	}
	var said bytes.Buffer
	o := &cleanupOptions{command: &command{streams: genericiooptions.IOStreams{ErrOut: &said}}}
	if err := o.settle([]*job.Job{nil}, []error{forbidden}); !errors.Is(err, forbidden) || said.String() != "" {
		t.Errorf("one job: %v, said %q", err, &said)
	}
	if err := o.settle([]*job.Job{nil, nil}, []error{nil, forbidden}); cli.CodeOf(err) != cli.ExitFailed || said.String() != "error: job b2: forbidden\n" {
		t.Errorf("without an interrupt: %v, said %q", err, &said)
	}
}

func TestQuestionOf(t *testing.T) {
	of := func(states ...api.State) (found []jobState) {
		for i, s := range states {
			found = append(found, jobState{job: &job.Job{Handle: api.Handle{JobID: fmt.Sprintf("a%d", i)}}, status: api.Status{State: s}})
		}
		return found
	}
	for want, got := range map[string]string{
		"job a0 would be cleaned up":                              questionOf(of(api.Failed), 0),
		"job a0 is PENDING; it would be cancelled and cleaned up": questionOf(of(api.Pending), 1),
		"2 jobs would be cleaned up":                              questionOf(of(api.Failed, api.NotFound), 0),
		"2 jobs would be cleaned up, 1 of them cancelled first":   questionOf(of(api.Failed, api.Running), 1),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// errDenied is the error for workloads that the user may not see. The jobs that the backend
// lists are of another kind.
var errDenied = errors.New("you need the verb list on leaderworkersets")

// A job that can't be read may be running, and needs its records.
func TestSweepOfAPlaceThatCanNotBeRead(t *testing.T) {
	handle := func(id string) string {
		return `{"version":1,"job_id":"` + id + `","backend":"gke","namespace":"ml","created_at":"2026-01-01T00:00:00Z"}`
	}
	away := jobtest.Backend{Unseen: errDenied, Unread: errors.New("dial tcp: i/o timeout")}
	empty := jobtest.Backend{Unseen: errDenied}
	unended := map[string]string{"a1/handle.json": handle("a1"), "a1/call.json": "{}"}
	both := map[string]string{"a1/handle.json": handle("a1"), "b2/handle.json": handle("b2"), "b2/end.json": `{"version":1,"state":"FAILED"}`}
	for name, tt := range map[string]struct {
		backend jobtest.Backend
		objects map[string]string
		flags   cleanupFlags
		wantErr string // "" if only the exit code is returned
		said    string
		left    int // objects
	}{
		"the cluster is away":                {away, unended, cleanupFlags{all: true, stored: true, yes: true}, "i/o timeout", "", 2},
		"the cluster is away, by age":        {away, unended, cleanupFlags{olderThan: time.Hour, stored: true, yes: true}, "i/o timeout", "", 2},
		"the cluster is away, all ended":     {away, both, cleanupFlags{all: true, stored: true, workload: true, yes: true}, "i/o timeout", "", 3},
		"the cluster is away, nothing there": {away, nil, cleanupFlags{all: true, stored: true, yes: true}, "i/o timeout", "", 0},
		"one kind of workload is hidden":     {empty, both, cleanupFlags{all: true, stored: true, yes: true}, "", "skipped: job a1: you need the verb list on leaderworkersets\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.OpenFile("file://" + t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for object, text := range tt.objects {
				if err := s.Create(t.Context(), object, strings.NewReader(text), nil); err != nil {
					t.Fatal(err)
				}
			}
			var said bytes.Buffer
			c := &command{streams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &said}, clock: clock.RealClock{}, choice: jobFlags{Connection: connect.NewFlags()}}
			registry := job.Registry{Kind: api.BackendGKE, Namespace: "ml", Store: s, Backend: tt.backend}
			o, err := tt.flags.toOptions(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = o.sweep(t.Context(), registry)
			if cli.CodeOf(err) != cli.ExitFailed || !strings.Contains(err.Error(), tt.wantErr) || said.String() != tt.said {
				t.Errorf("got %v, said %q", err, &said)
			}
			left := 0
			for _, err := range s.List(t.Context(), "", "") {
				if err != nil {
					t.Fatal(err)
				}
				left++
			}
			if left != tt.left {
				t.Errorf("left %d objects, want %d", left, tt.left)
			}
		})
	}
}

// The workloads are listed before the store: a job that is submitted meanwhile looks as if it had none.
func TestSweepOfWhatIsJustBeingSubmitted(t *testing.T) {
	for name, tt := range map[string]struct {
		state  api.State // by now
		age    time.Duration
		host   string
		size   int64         // of the payload
		came   time.Duration // how long ago it came, 0 if it has not
		said   string
		exists bool
	}{
		"it runs by now":             {api.Running, 0, "", 0, 0, "skipped: job a1 is RUNNING now\n", true},
		"it has failed by now":       {api.Failed, 2 * time.Minute, "", 0, 0, "skipped: job a1 is FAILED now\n", true},
		"it has no workload yet":     {api.NotFound, 0, "", 0, 0, "skipped: job a1 was submitted just now\n", true},
		"its workload is gone":       {api.NotFound, 2 * time.Minute, "", 0, 0, "", false},
		"its payload is coming":      {api.NotFound, 2 * time.Minute, "", 10 << 20, 0, "skipped: job a1 is still uploading its payload\n", true},
		"its payload has just come":  {api.NotFound, 3 * time.Minute, "", 10 << 20, time.Second, "skipped: job a1 was submitted just now\n", true},
		"its payload came before it": {api.NotFound, 0, "", 10 << 20, time.Hour, "skipped: job a1 was submitted just now\n", true},
		"its payload came long ago":  {api.NotFound, 3 * time.Minute, "", 10 << 20, 2 * time.Minute, "", false},
		"its payload never came":     {api.NotFound, 5 * time.Minute, "", 10 << 20, 0, "", false},
		"it runs on a warm host now": {api.Running, 2 * time.Minute, "cpu-warm-1", 0, 0, "skipped: job a1 is RUNNING now\n", true},
		"its warm host comes later":  {api.Failed, 0, "cpu-warm-1", 0, 0, "skipped: job a1 was submitted just now\n", true},
		"its warm host is gone":      {api.Failed, 2 * time.Minute, "cpu-warm-1", 0, 0, "", false},
	} {
		for _, flags := range []cleanupFlags{{status: []string{"NOT_FOUND"}}, {all: true}, {olderThan: time.Hour}} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				s, err := store.OpenFile("file://" + dir)
				if err != nil {
					t.Fatal(err)
				}
				payload := "null"
				if tt.size > 0 {
					payload = fmt.Sprintf(`{"size":%d}`, tt.size)
				}
				handle := fmt.Sprintf(`{"version":1,"job_id":"a1","backend":"gke","namespace":"ml","created_at":"2026-01-01T00:00:00Z","host":%q,"payload":%s}`, tt.host, payload)
				if err := s.Create(t.Context(), store.Handle("a1"), strings.NewReader(handle), nil); err != nil {
					t.Fatal(err)
				}
				objects := map[string]time.Duration{store.Handle("a1"): tt.age}
				if tt.came > 0 {
					objects[store.Payload("a1")] = tt.came
					if err := s.Create(t.Context(), store.Payload("a1"), strings.NewReader("pickle"), nil); err != nil {
						t.Fatal(err)
					}
				}
				for name, age := range objects {
					written := time.Now().Add(-age)
					if err := os.Chtimes(filepath.Join(dir, name), written, written); err != nil {
						t.Fatal(err)
					}
				}
				var said bytes.Buffer
				c := &command{streams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &said}, clock: clock.RealClock{}, choice: jobFlags{Connection: connect.NewFlags()}}
				deleted := false
				backend := jobtest.Backend{State: tt.state, Deleted: func(api.Handle) error { deleted = true; return nil }}
				flags.workload, flags.stored, flags.yes = true, true, true
				o, err := flags.toOptions(c, nil)
				if err != nil {
					t.Fatal(err)
				}
				err = o.sweep(t.Context(), job.Registry{Kind: api.BackendGKE, Namespace: "ml", Store: s, Backend: backend})
				_, missing := records.Find(t.Context(), s, store.Handle("a1"))
				if err != nil || said.String() != tt.said || deleted == tt.exists || (missing == nil) != tt.exists {
					t.Errorf("%v, said %q; workload deleted: %t, handle: %v", err, &said, deleted, missing)
				}
			})
		}
	}
}

// A slow store does not tell the list that a job has a result whose runner was killed later.
func TestSweepOfAJobThatSucceededAfterAll(t *testing.T) {
	for name, tt := range map[string]struct {
		state api.State // by now
		said  string
		left  bool
	}{
		"its result was found": {api.Succeeded, "skipped: job a1 is SUCCEEDED now\n", true},
		"it has none":          {api.Failed, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.OpenFile("file://" + t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			handle := `{"version":1,"job_id":"a1","backend":"gke","namespace":"ml"}`
			if err := s.Create(t.Context(), store.Handle("a1"), strings.NewReader(handle), nil); err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			c := &command{streams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &said}, clock: clock.RealClock{}, choice: jobFlags{Connection: connect.NewFlags()}}
			flags := cleanupFlags{status: []string{"FAILED"}, workload: true, stored: true, yes: true}
			o, err := flags.toOptions(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			listed := api.JobSummary{ID: "a1", Namespace: "ml", Store: s.URL(), Status: api.Status{State: api.Failed, Reason: api.Killed, ExitCode: new(137)}}
			backend := jobtest.Backend{State: tt.state, Jobs: []api.JobSummary{listed}}
			err = o.sweep(t.Context(), job.Registry{Kind: api.BackendGKE, Namespace: "ml", Store: s, Backend: backend})
			if _, missing := records.Find(t.Context(), s, store.Handle("a1")); err != nil || said.String() != tt.said || (missing == nil) != tt.left {
				t.Errorf("%v, said %q; handle: %v", err, &said, missing)
			}
		})
	}
}

// A job that runs keeps what it works with, unless it is cancelled first.
func TestCleanupOfPartsOfAJobThatRuns(t *testing.T) {
	for _, tt := range []struct {
		flags cleanupFlags
		want  string // of the error
	}{
		{cleanupFlags{outputs: true}, "job a1 is RUNNING and needs its outputs: cancel it first, or omit --k8s=false"},
		{cleanupFlags{outputs: true, yes: true}, "job a1 is RUNNING and needs its outputs: cancel it first, or omit --k8s=false"},
		{cleanupFlags{stored: true, yes: true}, "job a1 is RUNNING and needs its records: cancel it first, or omit --k8s=false"},
		{cleanupFlags{stored: true, outputs: true}, "job a1 is RUNNING and needs its records: cancel it first, or omit --k8s=false"},
	} {
		for _, named := range []bool{true, false} {
			t.Run(fmt.Sprintf("%+v, named %t", tt.flags, named), func(t *testing.T) {
				s, err := store.OpenFile("file://" + t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				objects := []string{"a1/handle.json", "a1/outputs/last.pt", "a1/sync/0.json"}
				for _, name := range objects {
					if err := s.Create(t.Context(), name, strings.NewReader("{}"), nil); err != nil {
						t.Fatal(err)
					}
				}
				c := &command{streams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}, clock: clock.RealClock{}, choice: jobFlags{Connection: connect.NewFlags()}}
				listed := []api.JobSummary{{ID: "a1", Status: api.Status{State: api.Running}, Store: s.URL()}}
				backend := jobtest.Backend{State: api.Running, Jobs: listed}
				tt.flags.all = !named
				var args []string
				if named {
					args = []string{"a1"}
				}
				o, err := tt.flags.toOptions(c, args)
				if err != nil {
					t.Fatal(err)
				}
				if named {
					j := &job.Job{Handle: api.Handle{JobID: "a1"}, Store: s, Backend: backend}
					found, unread := o.look(t.Context(), []*job.Job{j})
					if len(unread) > 0 {
						t.Fatal(unread)
					}
					err = o.cleanUp(t.Context(), found)
				} else {
					err = o.sweep(t.Context(), job.Registry{Kind: api.BackendGKE, Namespace: "ml", Store: s, Backend: backend})
				}
				if cli.CodeOf(err) != cli.ExitUsage || err.Error() != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				for _, name := range objects {
					if _, err := records.Find(t.Context(), s, name); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// The jobs are listed before the question, but not hundreds of them.
func TestJobsAreShownBeforeAnybodyIsAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		jobs, lines int
		last        string
	}{
		"the question names it": {1, 0, ""},
		"a few":                 {2, 3, "a1    RUNNING   train      2d"},
		"many":                  {22, 22, "and 2 more (all with --dry-run)"},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
			var said bytes.Buffer
			c := &command{streams: genericiooptions.IOStreams{ErrOut: &said}, clock: clocktesting.NewFakePassiveClock(now)}
			var found []jobState
			for i := range tt.jobs {
				h := api.Handle{JobID: fmt.Sprintf("a%d", i), FuncName: "train"}
				found = append(found, jobState{&job.Job{Handle: h}, api.Status{State: api.Running}, now.Add(-48 * time.Hour)})
			}
			if err := (&cleanupOptions{command: c}).show(found); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
			if last := lines[len(lines)-1]; strings.Count(said.String(), "\n") != tt.lines || strings.TrimSpace(last) != tt.last {
				t.Errorf("got %d lines, the last %q; want %d and %q", len(lines), last, tt.lines, tt.last)
			}
		})
	}
}

// A job that runs is cancelled first: who follows it, and the records that stay, must know why it ended.
func TestCleanupOfAJobThatRuns(t *testing.T) {
	for name, tt := range map[string]struct {
		backend jobtest.Backend
		known   api.State
		stored  api.Reason // of the end that the runner has recorded, if any
		text    string
		reason  api.Reason
	}{
		"it runs":                     {jobtest.Backend{State: api.Running}, api.Running, "", "a1 cancelled and cleaned up\n", api.Cancelled},
		"it waits, and nobody looked": {jobtest.Backend{State: api.Pending}, "", "", "a1 cancelled and cleaned up\n", api.Cancelled},
		"it has ended meanwhile":      {jobtest.Backend{State: api.Failed}, api.Running, "", "a1 cleaned up\n", ""},
		"it had ended":                {jobtest.Backend{State: api.Succeeded}, api.Succeeded, "", "a1 cleaned up\n", ""},
		"the cluster is late":         {jobtest.Backend{State: api.Running}, api.Running, api.Completed, "a1 cleaned up\n", api.Completed},
		"it cannot be seen":           {jobtest.Backend{Unseen: errDenied}, "", "", "a1 cleaned up\n", api.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.OpenFile("file://" + t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			c := &command{streams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &bytes.Buffer{}}, clock: clock.RealClock{}}
			flags := cleanupFlags{workload: true, yes: true}
			o, err := flags.toOptions(c, []string{"a1"})
			if err != nil {
				t.Fatal(err)
			}
			j := &job.Job{Handle: api.Handle{JobID: "a1"}, Backend: tt.backend, Store: s}
			if tt.stored != "" {
				if err := records.CreateEnd(t.Context(), s, "a1", api.End{State: api.Succeeded, Reason: tt.stored, By: "runner"}); err != nil {
					t.Fatal(err)
				}
			}
			if err := o.cleanUp(t.Context(), []jobState{{j, api.Status{State: tt.known}, time.Time{}}}); err != nil {
				t.Fatal(err)
			}
			end, _ := records.Read[api.End](t.Context(), s, store.End("a1"))
			if out.String() != tt.text || end.Reason != tt.reason {
				t.Errorf("printed %q, recorded %q; want %q and %q", &out, end.Reason, tt.text, tt.reason)
			}
		})
	}
}
