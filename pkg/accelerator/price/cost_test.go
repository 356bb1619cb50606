package price

import (
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

var began = time.Date(2026, 4, 17, 12, 0, 0, 0, time.UTC)

func after(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }

func meter() Meter { return Meter{Now: after(120)} }

// ran is a job that ran for an hour.
var ran = api.Status{State: api.Succeeded, Attempt: 1, Started: began, Finished: after(60)}

func TestOfJob(t *testing.T) {
	tests := map[string]struct {
		handle api.Handle
		status api.Status
		want   string // "" for none
		cell   string
	}{
		"a GPU for an hour":        {api.Handle{Accelerator: "l4", Hosts: 1}, ran, "about 1.0 GPU-hours, $0.71 (list price, us-central1, 2025-03)", "~$0.71"},
		"spot":                     {api.Handle{Accelerator: "l4", Spot: true, Hosts: 1}, ran, "about 1.0 GPU-hours, $0.28 (list price, spot, us-central1, 2025-03)", "~$0.28"},
		"spot in the text":         {api.Handle{Accelerator: "v6e-2x4:spot", Hosts: 1}, ran, "about 8.0 chip-hours, $4.56 (list price, spot, us-central1, 2026)", "~$4.56"},
		"another region":           {api.Handle{Accelerator: "v6e-2x4", Hosts: 1, Zone: "europe-west4-b"}, ran, "about 8.0 chip-hours, $23.76 (list price, europe-west4, 2026)", "~$23.76"},
		"several hosts":            {api.Handle{Accelerator: "v6e-4x4", Hosts: 4, Backend: api.BackendLWS}, ran, "about 16.0 chip-hours, $43.20 (list price, us-central1, 2026)", "~$43.20"},
		"two hosts of one's shape": {api.Handle{Accelerator: "v6e-2x4", Hosts: 2, Backend: api.BackendLWS}, ran, "about 8.0 chip-hours, $21.60 (list price, us-central1, 2026)", "~$21.60"},
		"two slices":               {api.Handle{Accelerator: "v6e-4x4", Hosts: 8}, ran, "about 32.0 chip-hours, $86.40 (list price, us-central1, 2026)", "~$86.40"},
		"several machines":         {api.Handle{Accelerator: "h100x8", Hosts: 2}, ran, "about 16.0 GPU-hours, $176.98 (list price, us-central1, 2025-03)", "~$176.98"},
		"still running":            {api.Handle{Accelerator: "l4", Hosts: 1}, api.Status{State: api.Running, Attempt: 1, Started: began}, "about 2.0 GPU-hours, $1.42 (list price, us-central1, 2025-03)", "~$1.42"},
		"restarted":                {api.Handle{Accelerator: "l4", Hosts: 1}, api.Status{State: api.Running, Attempt: 3, Started: began}, "at most 2.0 GPU-hours, $1.42 (list price, us-central1, 2025-03)", "<=$1.42"},
		"waits again":              {api.Handle{Accelerator: "l4", Hosts: 1}, api.Status{State: api.Pending, Attempt: 1, Started: began}, "at most 2.0 GPU-hours, $1.42 (list price, us-central1, 2025-03)", "<=$1.42"},
		"hosts that are not released": {api.Handle{Accelerator: "l4", Hosts: 1},
			api.Status{State: api.Succeeded, Attempt: 1, Started: began, Finished: after(60), UnreleasedHosts: "1 host"}, "about 2.0 GPU-hours, $1.42 (list price, us-central1, 2025-03)", "~$1.42"},
		"a map":        {api.Handle{Accelerator: "l4", Hosts: 4, Map: &api.Map{Inputs: 30, Chunk: 10, Parallelism: 4}}, ran, "at most 3.0 GPU-hours, $2.13 (list price, us-central1, 2025-03)", "<=$2.13"},
		"no price":     {api.Handle{Accelerator: "b200", Hosts: 1}, ran, "about 8.0 GPU-hours, price unknown", ""},
		"flex-start":   {api.Handle{Accelerator: "v6e-2x4", Hosts: 1, Capacity: api.CapacityFlexStart}, ran, "about 8.0 chip-hours, price unknown", ""},
		"a minute":     {api.Handle{Accelerator: "l4", Hosts: 1}, api.Status{State: api.Succeeded, Attempt: 1, Started: began, Finished: after(1)}, "about 0.017 GPU-hours, $0.01 (list price, us-central1, 2025-03)", "~$0.01"},
		"cpu":          {api.Handle{Accelerator: "cpu", Hosts: 1}, ran, "", ""},
		"this machine": {api.Handle{Accelerator: "l4", Hosts: 1, Backend: api.BackendLocal}, ran, "", ""},
		"not started":  {api.Handle{Accelerator: "l4", Hosts: 1}, api.Status{State: api.Pending}, "", ""},
		"no end known": {api.Handle{Accelerator: "l4", Hosts: 1}, api.Status{State: api.NotFound, Started: began}, "", ""},
		"unreadable":   {api.Handle{Accelerator: "x900", Hosts: 1}, ran, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := meter().OfJob(tt.handle, tt.status)
			text := ""
			if got != nil {
				text = got.Text()
			}
			if text != tt.want || got.Cell() != tt.cell {
				t.Errorf("got %q, %q, want %q, %q", text, got.Cell(), tt.want, tt.cell)
			}
		})
	}
}

func TestOfSummary(t *testing.T) {
	e := api.JobSummary{Accelerator: "l4", Hosts: 1, Status: api.Status{State: api.Running, Attempt: 1, Started: began}}
	if got := meter().OfSummary(e); got.Bound != About || got.Cell() != "~$1.42" {
		t.Errorf("got %+v", got)
	}
	e.Workload.MayHaveEarlierPods = true
	if got := meter().OfSummary(e); got.Cell() != ">=$1.42" {
		t.Errorf("got %+v", got)
	}
	e = api.JobSummary{Accelerator: "l4", Hosts: 1, Capacity: api.CapacitySpot, Status: ran}
	if got := meter().OfSummary(e); !got.Spot || got.Cell() != "~$0.28" {
		t.Errorf("got %+v", got)
	}
	e.Capacity = api.CapacityFlexStart
	if got := meter().OfSummary(e); got.USD != nil {
		t.Errorf("got %+v", got)
	}
	// The pods of a map don't all run all the time.
	e = api.JobSummary{Accelerator: "l4", Hosts: 4, Map: true, Status: ran, Workload: api.WorkloadFacts{PodTime: &api.PodTime{Ended: time.Hour, Running: []time.Time{after(60)}}}}
	if got := meter().OfSummary(e); got.ChipHours != 2 || got.Cell() != "~$1.42" {
		t.Errorf("got %+v", got)
	}
	e.Workload.PodTime.Incomplete = true
	if got := meter().OfSummary(e); got.Cell() != ">=$1.42" {
		t.Errorf("got %+v", got)
	}
	e.Workload.PodTime = nil
	if got := meter().OfSummary(e); got.Cell() != "<=$2.84" {
		t.Errorf("got %+v", got)
	}
	e = api.JobSummary{Accelerator: "v6e-4x4", Status: ran} // of a group without pods
	m := meter()
	m.Region = "europe-west4"
	if got := m.OfSummary(e); got.Chips != 16 || got.Cell() != "~$47.52" {
		t.Errorf("got %+v", got)
	}
}

// The time between attempts, in which a job waits for machines, doesn't count.
func TestOfHistory(t *testing.T) {
	h := api.Handle{Accelerator: "l4", Hosts: 1}
	tests := map[string]struct {
		attempts []api.Attempt
		losses   []api.Disruption
		status   api.Status
		minutes  float64
		bound    Bound
	}{
		"one":           {[]api.Attempt{{Started: began}}, nil, ran, 60, About},
		"one that runs": {[]api.Attempt{{Started: began}}, nil, api.Status{State: api.Running}, 120, About},
		"a crash":       {[]api.Attempt{{Started: began, Finished: after(10)}, {Started: after(40)}}, nil, ran, 30, About},
		"a preemption":  {[]api.Attempt{{Started: began}, {Started: after(40)}}, []api.Disruption{{Time: after(12)}}, ran, 32, About},
		"a preemption that nobody saw": {[]api.Attempt{{Started: began}, {Started: after(40)}},
			[]api.Disruption{{Time: after(45)}}, ran, 60, AtMost},
		"clocks that differ":                           {[]api.Attempt{{Started: after(10), Finished: began}, {Started: after(40)}}, nil, ran, 20, About},
		"an attempt that ended, of a job that has not": {[]api.Attempt{{Started: began, Finished: after(10)}}, nil, api.Status{State: api.Pending}, 10, About},
		"without records":                              {nil, nil, ran, 60, About},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := meter().OfHistory(h, tt.status, tt.attempts, tt.losses)
			if want := Round(tt.minutes / 60); got.ChipHours != want || got.Bound != tt.bound {
				t.Errorf("got %+v, want %v %v hours", got, tt.bound, want)
			}
		})
	}
}

func TestRate(t *testing.T) {
	a, err := accelerator.Parse("v6e-8:spot", accelerator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if usd, basis := Rate(Table{}, a, api.CapacitySpot, "us-east5-a"); usd == nil || *usd != 10.8 || basis != "us-east5, 2026" {
		t.Errorf("got %v, %q", usd, basis)
	}
	if usd, _ := Rate(Table{}, a, api.CapacityClass, ""); usd != nil {
		t.Errorf("a compute class has the price %v", *usd)
	}
}
