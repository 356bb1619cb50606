package jobs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Rows that are added later in a watch are often longer than the first ones.
func TestColumnsOfAWatchStay(t *testing.T) {
	var out bytes.Buffer
	p := entryPrinter{watched: true, now: time.Now, out: &out}
	for _, e := range []api.JobSummary{
		{ID: "a1", State: api.Failed, Function: "here"},
		{ID: "v5e1-train-model-20260417-153012-abc1234", State: api.Succeeded, Function: "here"},
	} {
		if err := p.print([]api.JobSummary{e}); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(out.String(), "\n")
	if at := strings.Index(lines[1], "here"); at < 0 || strings.Index(lines[2], "here") != at {
		t.Errorf("the columns shift:\n%s", &out)
	}
}

// Why jobs wait is worth more room than where they run.
func TestAWideListOnATerminal(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(600, 0)
	p := entryPrinter{output: "wide", now: func() time.Time { return now }, out: &out, style: ui.Style{Redraw: true}}
	waits := api.JobSummary{ID: "a1", State: api.Pending, Status: api.Status{State: api.Pending, Message: "no node has room: 1 of 6 with a taint"},
		Function: "train", Accelerator: "l4", JobDetails: api.JobDetails{User: "ada"}, Hosts: 1, Created: now.Add(-time.Minute)}
	runs := api.JobSummary{ID: "b2", State: api.Running, Status: api.Status{State: api.Running, Message: "attempt 1", Started: now.Add(-time.Minute)},
		Function: "train", Accelerator: "cpu", JobDetails: api.JobDetails{User: "ada"}, Hosts: 2, Node: "gke-kinetic-pool-12345678-abcd", Created: now.Add(-time.Minute)}
	const want = `ID   STATUS    FUNCTION   ACCELERATOR   AGE   DURATION   OUTCOME
a1   PENDING   train      l4            60s   <none>     waiting: no node has …
b2   RUNNING   train      cpu           60s   60s        attempt 1
all: OWNER ada
`
	if err := p.print([]api.JobSummary{waits, runs}); err != nil || out.String() != want {
		t.Errorf("%v, got\n%swant\n%s", err, &out, want)
	}
}

// parked are jobs that have ended and hold two hosts each. Either all of them are
// released at the same time, or none.
type parked struct {
	jobtest.Backend
	begun   *sync.WaitGroup
	printed *bytes.Buffer
	before  *string // what was printed before they were released
}

func (p parked) Release(_ context.Context, h api.Handle, _ api.End) error {
	p.begun.Done()
	p.begun.Wait()
	if h.JobID == "a1" {
		*p.before = p.printed.String()
	}
	return nil
}

// A plain list shows which jobs hold hosts although they have ended, and frees the hosts.
func TestAListTellsWhatIsHeldAndReleasesIt(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	running := api.JobSummary{ID: "r1", Store: s.URL(), Created: time.Unix(9, 0), Status: api.Status{State: api.Running}}
	found := []api.JobSummary{running}
	for _, id := range []string{"a1", "b2", "c3"} {
		if err := s.Create(t.Context(), store.End(id), strings.NewReader(`{"version":1,"state":"SUCCEEDED"}`), nil); err != nil {
			t.Fatal(err)
		}
		found = append(found, api.JobSummary{ID: id, Store: s.URL(), Status: api.Status{State: api.Running, UnreleasedHosts: "16 chips"}})
	}
	var out bytes.Buffer
	begun, before := &sync.WaitGroup{}, ""
	begun.Add(3)
	o := listOptions{errOut: io.Discard, entryPrinter: entryPrinter{now: time.Now, out: &out}, registry: job.Registry{Store: s, Backend: parked{jobtest.Backend{Jobs: found}, begun, &out, &before}}}
	if err := o.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var first, last []string
	for _, line := range strings.Split(strings.TrimSpace(before), "\n") {
		cells := strings.Fields(line)
		first, last = append(first, strings.Join(cells[:2], " ")), append(last, strings.Join(cells[6:], " "))
	}
	if got, want := strings.Join(first, ", "), "ID STATUS, r1 RUNNING, a1 SUCCEEDED, b2 SUCCEEDED, c3 SUCCEEDED"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const held = "succeeded; finished, holding 16 chips"
	if got, want := strings.Join(last, ", "), "OUTCOME, running, "+held+", "+held+", "+held; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	out.Reset()
	o.table = nil
	if err := o.print([]api.JobSummary{{ID: "r1", State: api.Running}}); err != nil || strings.Contains(out.String(), "OUTCOME") {
		t.Errorf("%v, of what holds nothing:\n%s", err, &out)
	}
}

// A list shows how jobs ended whose workloads are gone, and whether they were collected.
func TestAListOfJobsThatAreGone(t *testing.T) {
	var out bytes.Buffer
	p := entryPrinter{workloads: true, now: time.Now, out: &out}
	gone := func(id, ended string, reason api.Reason) api.JobSummary {
		return api.JobSummary{ID: id, State: api.NotFound, Status: api.Status{State: api.NotFound, Ended: ended, Reason: reason}}
	}
	collected := gone("a1", "SUCCEEDED", api.Completed)
	collected.Status.Collected = true
	err := p.print([]api.JobSummary{collected, gone("b2", "CANCELLED", api.Cancelled), gone("c3", "FAILED", api.Killed), gone("d4", "", ""),
		{ID: "e5", State: api.Running}, {ID: "f6", State: api.Failed, Status: api.Status{State: api.Failed, Reason: api.Cancelled}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		cells := strings.Fields(line)
		got = append(got, strings.Join([]string{cells[0], cells[1], cells[len(cells)-1]}, " "))
	}
	want := "ID STATUS WORKLOAD, a1 SUCCEEDED collected, b2 CANCELLED gone, c3 FAILED gone, d4 NOT_FOUND gone, e5 RUNNING exists, f6 CANCELLED exists"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// --sort-by keeps the newest first among equal jobs.
func TestSortBy(t *testing.T) {
	now := time.Unix(1000, 0)
	ran := func(id string, s api.State, started, finished int64) api.JobSummary {
		e := api.JobSummary{ID: id, State: s, Status: api.Status{State: s}}
		if started > 0 {
			e.Status.Started = time.Unix(started, 0)
		}
		if finished > 0 {
			e.Status.Finished = time.Unix(finished, 0)
		}
		return e
	}
	for by, want := range map[string]string{"age": "c b d a", "id": "a b c d", "status": "d a c b", "duration": "a d b c"} {
		entries := []api.JobSummary{ran("c", api.Running, 995, 0), ran("b", api.Succeeded, 900, 910), ran("d", api.Failed, 900, 950), ran("a", api.Pending, 0, 0)}
		if by == "duration" {
			entries[3] = ran("a", api.Running, 500, 0)
		}
		(&listOptions{sortBy: by, entryPrinter: entryPrinter{now: func() time.Time { return now }}}).sort(entries)
		var got []string
		for _, e := range entries {
			got = append(got, e.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("by %s: got %v, want %s", by, got, want)
		}
	}
	for _, args := range [][]string{{"list", "--sort-by", "ID"}, {"list", "--sort-by", "id", "-w"}} {
		if code, _, said := kinetic(t, args...); code != cli.ExitUsage || !strings.Contains(said, "--sort-by") {
			t.Errorf("%v: exit code %d, said %q", args, code, said)
		}
	}
}

// --limit takes the first jobs in the order of --sort-by, not the newest ones.
func TestLimitOfASortedList(t *testing.T) {
	useSweep(t)
	for by, want := range map[string]string{"age": "cpu-b-2\n", "id": "cpu-a-1\n", "status": "cpu-b-2\n"} {
		if code, out, said := kinetic(t, "list", "--sort-by", by, "--limit", "1", "-o", "name"); code != 0 || out != want {
			t.Errorf("by %s: exit code %d, printed %q, said %q; want %q", by, code, out, said, want)
		}
	}
	if _, out, _ := kinetic(t, "list", "--sort-by", "id", "--limit", "9", "-o", "name"); out != "cpu-a-1\ncpu-b-2\n" {
		t.Errorf("a limit that is not reached: printed %q", out)
	}
}

// An empty list says where it looked, and that there are local jobs.
func TestAnEmptyList(t *testing.T) {
	useBucket(t, nil)
	server := httptest.NewServer(&cluster{})
	t.Cleanup(server.Close)
	useCluster(t, server.URL)
	for n, want := range []string{"no jobs found in namespace ml\n", "no jobs found in namespace ml; 1 local job exists: add --local\n", "no jobs found in namespace ml; 2 local jobs exist: add --local\n"} {
		state := t.TempDir()
		t.Setenv("XDG_STATE_HOME", state)
		for i := range n {
			if err := os.MkdirAll(filepath.Join(state, "kinetic", "local", fmt.Sprintf("job-%d", i)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if code, out, said := kinetic(t, "list"); code != 0 || out != "" || said != want {
			t.Errorf("%d local jobs: exit code %d, printed %q, said %q", n, code, out, said)
		}
	}
	if _, _, said := kinetic(t, "list", "-A"); !strings.HasPrefix(said, "no jobs found in any namespace") {
		t.Errorf("of all namespaces it said %q", said)
	}
}
