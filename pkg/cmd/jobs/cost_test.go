package jobs

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

var hour = time.Date(2026, 4, 17, 15, 0, 0, 0, time.UTC)

// A wide list has the list price so far, and programs get its parts.
func TestListWithCosts(t *testing.T) {
	entries := []api.JobSummary{
		{ID: "runs", Accelerator: "v6e-2x4:spot", Hosts: 1, Status: api.Status{State: api.Running, Attempt: 1, Started: hour}},
		{ID: "waits", Accelerator: "l4", Hosts: 1, Status: api.Status{State: api.Pending}},
		{ID: "cpu", Accelerator: "cpu", Hosts: 1, Status: api.Status{State: api.Running, Attempt: 1, Started: hour}},
	}
	now := func() time.Time { return hour.Add(30 * time.Minute) }
	var out bytes.Buffer
	if err := (&entryPrinter{output: "wide", now: now, out: &out, meter: price.Meter{Region: "us-east5"}}).print(entries); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" ~$5.40 ", "COST "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if n := strings.Count(out.String(), "$"); n != 1 {
		t.Errorf("%d jobs have a price:\n%s", n, &out)
	}
	out.Reset()
	if err := (&entryPrinter{output: "json", now: now, out: &out}).print(entries); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items []struct {
			ID   string
			Cost *price.Cost
		}
	}
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if c := list.Items[0].Cost; c == nil || c.ChipHours != 4 || *c.USD != 2.28 || !c.Spot || c.Basis != "us-central1, 2026" {
		t.Errorf("got %+v", c)
	}
	if list.Items[1].ID != "waits" || list.Items[1].Cost != nil || list.Items[2].Cost != nil {
		t.Errorf("got %+v", list.Items)
	}
	out.Reset()
	if err := (&entryPrinter{output: "json", now: now, out: &out}).print(nil); err != nil || out.String() != "{\n  \"items\": []\n}\n" {
		t.Errorf("got %q, %v", &out, err)
	}
}

// describe leaves out the time between attempts.
func TestDescribeCosts(t *testing.T) {
	d := job.Description{Handle: api.Handle{JobID: "l4-train", Accelerator: "l4", Hosts: 1},
		Status:   api.Status{State: api.Succeeded, Attempt: 2, Started: hour, Finished: hour.Add(4 * time.Hour)},
		Attempts: []api.Attempt{{Started: hour, Finished: hour.Add(time.Hour)}, {Started: hour.Add(3 * time.Hour)}}}
	kept, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	if err := (&command{streams: streams, clock: clock.RealClock{}}).describeText(&job.Job{Store: kept}, d, price.Meter{}, false); err != nil {
		t.Fatal(err)
	}
	if want := "about 2.0 GPU-hours, $1.42 (list price, us-central1, 2025-03)"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	if c := describeJSON(d, price.Meter{}).Cost; c == nil || c.ChipHours != 2 || c.Bound != price.About {
		t.Errorf("got %+v", c)
	}
}
