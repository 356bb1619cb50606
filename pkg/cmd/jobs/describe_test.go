package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

func TestPrintHosts(t *testing.T) {
	var few, many []api.Host
	for i := range 4 {
		few = append(few, api.Host{Host: i, Node: fmt.Sprintf("tpu-%d", i/2), State: api.Running})
	}
	few[3] = api.Host{Host: 3, State: api.Pending, Message: "no node yet"}
	for i := range 256 {
		many = append(many, api.Host{Host: i, Node: fmt.Sprintf("tpu-%d", i), State: api.Running})
	}
	for _, i := range []int{7, 8, 100} {
		many[i] = api.Host{Host: i, State: api.Pending, Message: "no node yet"}
	}
	many[255].State, many[255].Message = api.Failed, "exit code 137"
	for name, c := range map[string]struct {
		hosts []api.Host
		want  []string
	}{
		"none":                  {nil, nil},
		"few, one by one":       {few, []string{"0 RUNNING tpu-0", "1 RUNNING tpu-0", "2 RUNNING tpu-1", "3 PENDING no node yet"}},
		"many, by what they do": {many, []string{"0-6, 9-99, 101-254 RUNNING 252 nodes", "7-8, 100 PENDING no node yet", "255 FAILED tpu-255 exit code 137"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := printHosts(&out, c.hosts); err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(out.String()) {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s", out.String())
			}
		})
	}
	if got := hostCount(api.Handle{Hosts: 256}, many[:3]); got != "256, 3 of them with a pod" {
		t.Errorf("got %q", got)
	}
}

func TestPrintParts(t *testing.T) {
	few := []api.Part{{Name: "rm", Pod: "x-0", Node: "tpu-0", State: api.Running}, {Name: "proxy", Pod: "x-0", Node: "tpu-0", State: api.Running, Restarts: 2},
		{Name: "worker-0", Pod: "x-0-1", State: api.Pending, Message: "no node yet"}, {Name: "worker-1", Pod: "x-0-2", Node: "tpu-1", State: api.Failed, Restarts: 1, Message: "exit code 1"}}
	many := few[:2:2]
	for i := range 16 {
		many = append(many, api.Part{Name: api.WorkerPart(i), Pod: fmt.Sprintf("x-0-%d", i+1), Node: fmt.Sprintf("tpu-%d", i), State: api.Running})
	}
	many[5].State = api.Pending
	for name, c := range map[string]struct {
		parts []api.Part
		want  string
	}{
		"none": {nil, ""},
		"few":  {few, "|Pathways:|rm RUNNING x-0 tpu-0|proxy RUNNING x-0 tpu-0 restarted 2 times|worker-0 PENDING x-0-1 no node yet|worker-1 FAILED x-0-2 tpu-1 restarted 1 time, exit code 1"},
		"many": {many, "|Pathways:|rm RUNNING x-0 tpu-0|proxy RUNNING x-0 tpu-0 restarted 2 times|15 workers, 0-2, 4-15 RUNNING 15 nodes|worker-3 PENDING x-0-4 tpu-3"},
	} {
		var out strings.Builder
		if err := printParts(&out, c.parts); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			got = append(got, strings.Join(strings.Fields(line), " "))
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s: got %s", name, text)
		}
	}
}

func TestDescribedInputs(t *testing.T) {
	whole := api.Map{Inputs: 1200, Chunk: 100}
	rest := api.Map{Inputs: 1200, Chunk: 100, Only: []api.Range{{First: 3, Last: 4}}, Inherited: 1199}
	for want, got := range map[string]string{
		"1,200 in 12 chunks; 1,100/1,200 done, 4 failed":                          inputs(whole, &records.MapProgress{Done: 1100, Failed: 4, Total: 1200}),
		"1,200 in 12 chunks; all values were deleted":                             inputs(whole, nil),
		"1,200: 1,199 from an older map, the others in 1 chunk; 1,199/1,200 done": inputs(rest, &records.MapProgress{Done: 1199, Total: 1200}),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The status shows how a job ended, although its workload is gone.
func TestDescribedStateOfAJobThatIsGone(t *testing.T) {
	gone := func(ended string, reason api.Reason, message string) api.Status {
		return api.Status{State: api.NotFound, Ended: ended, Reason: reason, Message: message}
	}
	collected := gone("SUCCEEDED", api.Completed, "")
	collected.Collected = true
	tests := map[string]struct {
		status   api.Status
		ofMap    *api.Map
		state    string
		workload string
	}{
		"it is there":            {api.Status{State: api.Running}, nil, "RUNNING", ""},
		"it is there, and waits": {api.Status{State: api.Pending, Message: "no node"}, nil, "PENDING, waiting: no node", ""},
		"it is there, and ended": {api.Status{State: api.Succeeded}, nil, "SUCCEEDED", ""},
		"it holds hosts":         {api.Status{State: api.Succeeded, UnreleasedHosts: "16 chips"}, nil, "SUCCEEDED, succeeded; finished, holding 16 chips", ""},
		"nobody knows":           {gone("", "", ""), nil, "NOT_FOUND", ""},
		"nobody can look":        {api.Status{State: api.Succeeded, Unread: "no way"}, nil, "SUCCEEDED", "unknown: no way"},
		"collected":              {collected, nil, "SUCCEEDED", "deleted: its value was collected"},
		"a map, collected":       {collected, &api.Map{Inputs: 1}, "SUCCEEDED", "deleted: its values were collected"},
		"not collected":          {gone("SUCCEEDED", api.Completed, ""), nil, "SUCCEEDED", "gone"},
		"cancelled":              {gone("CANCELLED", api.Cancelled, "cancelled"), nil, "CANCELLED", "deleted: the job was cancelled"},
		"given up":               {gone("CANCELLED", api.Cancelled, "it could not start: no image"), nil, "CANCELLED: it could not start: no image", "deleted: the job was cancelled"},
		"failed":                 {gone("FAILED", api.Exception, "ValueError: bad"), nil, "FAILED: ValueError: bad", "gone"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.status.End = tt.status.EndSentence(tt.ofMap != nil, api.CallFunction)
			d := job.Description{Status: tt.status, Handle: api.Handle{Map: tt.ofMap}}
			if got := describeState(d); got != tt.state {
				t.Errorf("status %q, want %q", got, tt.state)
			}
			if got := describeWorkload(d); got != tt.workload {
				t.Errorf("workload %q, want %q", got, tt.workload)
			}
		})
	}
}

// A blank line separates descriptions. There is none for a missing description.
func TestDescribeAllAfterAnError(t *testing.T) {
	kept, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var jobs []*job.Job
	for _, id := range []string{"a1", "b1", "c1"} {
		jobs = append(jobs, &job.Job{Handle: api.Handle{JobID: id, Hosts: 1}, Store: kept, Backend: jobtest.Backend{State: api.Running}})
	}
	jobs[0].Backend = jobtest.Backend{Unseen: errors.New("connection refused")}
	streams, _, out, said := genericiooptions.NewTestIOStreams()
	err = (&command{streams: streams, clock: clock.RealClock{}}).describeAll(t.Context(), jobs, nil, "", price.Meter{})
	if err == nil || said.String() != "error: job a1: connection refused\n" {
		t.Errorf("%v, said %q", err, said.String())
	}
	if text := out.String(); !strings.HasPrefix(text, "b1 RUNNING") || strings.Count(text, "\n\nc1 RUNNING") != 1 {
		t.Errorf("got\n%s", text)
	}
}

// list and describe use the same names for programs, all in camelCase.
func TestWhatProgramsRead(t *testing.T) {
	useSweep(t)
	_, list, _ := kinetic(t, "list", "--mine", "-o", "json")
	var items struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(list), &items); err != nil || len(items.Items) != 1 {
		t.Fatalf("%v:\n%s", err, list)
	}
	_, described, _ := kinetic(t, "describe", "cpu-a-1", "-o", "json")
	var d map[string]any
	if err := json.Unmarshal([]byte(described), &d); err != nil {
		t.Fatalf("%v:\n%s", err, described)
	}
	for key, want := range map[string]any{"call": "f.py:f(n=1)", "image": "python:3.12", "cpu": "2", "memory": "4Gi", "maxAttempts": 3.0, "user": job.CurrentUser(), "gitCommit": "abc"} {
		if items.Items[0][key] != want || d[key] != want {
			t.Errorf("%s: the list has %v, describe %v, want %v", key, items.Items[0][key], d[key], want)
		}
	}
	if got := fmt.Sprint(items.Items[0]["pods"]); got != "[kinetic-cpu-a-1]" {
		t.Errorf("the list has the pods %s", got)
	}
	if log, found := d["logBytes"]; !found || log != nil {
		t.Errorf("the log of a job that runs has %v bytes", log)
	}
	for key := range d {
		if strings.Contains(key, "_") {
			t.Errorf("describe has the key %s", key)
		}
	}
}

func TestDescribeShowsWhatAJobIsMadeOf(t *testing.T) {
	useSweep(t)
	code, out, said := kinetic(t, "describe", "cpu-a-1", "cpu-b-2", "cpu-c-3")
	if code != cli.ExitFailed || !strings.Contains(said, `error: job "cpu-c-3" not found`) {
		t.Errorf("exit code %d, said %q", code, said)
	}
	for _, row := range []string{"Call: f.py:f(n=1)", "Runs on: cpu, Job kinetic-cpu-a-1 in namespace ml", "Submitted by: " + job.CurrentUser(), "Commit: abc", "Image: python:3.12", "Requests: cpu 2, memory 4Gi",
		"Attempts: at most 3, not counting lost machines", "Pod: kinetic-cpu-a-1", "Log: nothing stored yet", "cpu-a-1 RUNNING ", "cpu-b-2 FAILED"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), row) {
			t.Errorf("there is no %q:\n%s", row, out)
		}
	}
}

func TestDescribeShowsTheImageAndItsPackages(t *testing.T) {
	const image, given = "python:3.12", "repo/env:r-1"
	six := api.Package{File: "six-1.16.0-py2.py3-none-any.whl", SHA256: "ab"}
	flask := api.Package{File: "Flask-3.0.3-py3-none-any.whl", SHA256: "cd"}
	bundled := job.Description{Handle: api.Handle{ImageMode: "bundled", ImageDigests: []string{"sha256:index", "sha256:image"}},
		JobDetails: api.JobDetails{Image: given}, Packages: []api.Package{six, flask}}
	same, moved := bundled, bundled
	same.Status.ImageDigest, moved.Status.ImageDigest = "sha256:index", "sha256:other"
	const packages = " Mode: bundled Packages: 2: flask 3.0.3, six 1.16.0"
	for name, tt := range map[string]struct {
		d    job.Description
		want string
	}{
		"the pod names the index":  {same, "Image: repo/env:r-1 Digest: sha256:image" + packages},
		"a tag that moved":         {moved, "Image: repo/env:r-1 Digest: sha256:other" + packages},
		"bundled":                  {bundled, "Image: repo/env:r-1 Digest: sha256:image" + packages},
		"of an older client":       {job.Description{JobDetails: api.JobDetails{Image: image}}, "Image: python:3.12"},
		"what the pod says":        {job.Description{JobDetails: api.JobDetails{Image: image}, Status: api.Status{ImageDigest: "sha256:pod"}}, "Image: python:3.12 Digest: sha256:pod"},
		"a local job has no image": {job.Description{JobDetails: api.JobDetails{Image: image}, Handle: api.Handle{Backend: api.BackendLocal}}, ""},
	} {
		var s sheet
		s.group(func(row addRow) { describeImage(row, tt.d, true) })
		var out strings.Builder
		if err := s.write(&out); err != nil {
			t.Error(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	text, err := json.Marshal(describeJSON(bundled, price.Meter{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"imageMode":"bundled","imageDigest":"sha256:image"`, `"packages":[{"name":"flask","version":"3.0.3","file":"Flask-3.0.3-py3-none-any.whl","sha256":"cd"},{"name":"six",`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}

// A list of packages that is longer than a line continues below its beginning.
func TestDescribeWrapsPackages(t *testing.T) {
	d := job.Description{JobDetails: api.JobDetails{Image: "i"}}
	for i := range 8 {
		d.Packages = append(d.Packages, api.Package{File: fmt.Sprintf("package_number_%d-1.0-py3-none-any.whl", i)})
	}
	kept, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	if err := (&command{streams: streams, clock: clock.RealClock{}}).describeText(&job.Job{Store: kept}, d, price.Meter{}, false); err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(out.String(), "Packages:")
	indent := strings.Repeat(" ", len("Packages:")+strings.Index(list, "8: "))
	if _, more, _ := strings.Cut(list, "\n"); !strings.HasPrefix(more, indent+"package-number-") {
		t.Errorf("the second line does not continue the list:\n%s", out)
	}
	if strings.Contains(out.String(), "Mode:") {
		t.Errorf("without -o wide it has\n%s", out)
	}
}

// The first line says how a job stands, and what failed stands nowhere else.
func TestDescribeBeginsWithHowTheJobStands(t *testing.T) {
	start := time.Unix(1000, 0)
	ran := func(s api.State, reason api.Reason, message string, finished int) api.Status {
		status := api.Status{State: s, Reason: reason, Message: message, Started: start}
		if finished > 0 {
			status.Finished = start.Add(time.Duration(finished) * time.Second)
		}
		return status
	}
	waiting := api.Status{State: api.Pending, Message: "no node has room"}
	for want, status := range map[string]api.Status{
		"cpu-a \x1b[31mFAILED\x1b[0m after 13s: ValueError: bad":  ran(api.Failed, api.Exception, "ValueError: bad", 13),
		"cpu-a \x1b[32mSUCCEEDED\x1b[0m after 2.0s":               ran(api.Succeeded, api.Completed, "", 2),
		"cpu-a \x1b[36mRUNNING\x1b[0m for 60s":                    ran(api.Running, "", "", 0),
		"cpu-a \x1b[33mPENDING\x1b[0m, waiting: no node has room": waiting,
	} {
		d := job.Description{Handle: api.Handle{JobID: "cpu-a"}, Status: status}
		if got := headline(ui.Style{Color: true}, d, start.Add(time.Minute)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		d.Timeline = []job.Event{{Time: start, What: "submitted"}, {Time: start.Add(13 * time.Second), What: "failed: ValueError: bad"}, {Time: start.Add(48 * time.Hour), What: "collected"}}
		var out strings.Builder
		if err := printTimeline(&out, d); err != nil || strings.Contains(out.String(), "ValueError") != (status.State != api.Failed) {
			t.Errorf("%v, the timeline of %s is\n%s", err, want, &out)
		}
		if local := start.Local(); strings.Count(out.String(), local.Format(time.DateOnly)) != 1 || !strings.Contains(out.String(), local.Format(time.TimeOnly)) {
			t.Errorf("the day is not there once, or the time is not the local one:\n%s", &out)
		}
	}
}

// With a name, a list and a description have both that and the function.
func TestTheNameAndTheFunction(t *testing.T) {
	for call, want := range map[string][2]string{
		"t.py:train(lr=1)": {"best (train)", "best (function train)"},
		"t.py:best()":      {"best", "best (function)"},
	} {
		got := [2]string{functionCell(api.JobSummary{Function: "best", JobDetails: api.JobDetails{Call: call}}), function(api.Handle{FuncName: "best", Call: call, CallKind: api.CallFunction})}
		if got != want {
			t.Errorf("%s: got %q, want %q", call, got, want)
		}
	}
}

// TestTimelineKeepsWhyAttemptsEnded: attempts may end in the same way as the job.
func TestTimelineKeepsWhyAttemptsEnded(t *testing.T) {
	var out strings.Builder
	d := job.Description{Status: api.Status{Message: "out of memory"}, Timeline: []job.Event{
		{What: "attempt 1 ended: out of memory"}, {What: "failed: out of memory"},
	}}
	if err := printTimeline(&out, d); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "attempt 1 ended: out of memory\n") || !strings.HasSuffix(got, "failed\n") {
		t.Errorf("got\n%s", got)
	}
}
