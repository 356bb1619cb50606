package job

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestTimelineTellsEveryAttempt(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	crashed := api.Attempt{Attempt: 1, Started: at(1), Reason: api.Killed, Finished: at(2)}
	told := crashed
	told.Message = "host 3: train.py:f was killed"
	silent := api.Attempt{Attempt: 2, Started: at(3)}
	interrupted := api.Attempt{Attempt: 2, Started: at(3), Message: "host 1 was lost", Finished: at(4)}
	last := api.Attempt{Attempt: 3, Started: at(4)}
	tests := map[string]struct {
		hosts    int
		attempts []api.Attempt
		losses   []api.Disruption
		want     []Event
	}{
		"none recorded": {1, nil, nil, []Event{{at(1), "started"}}},
		"one":           {1, []api.Attempt{{Attempt: 1, Started: at(1)}}, nil, []Event{{at(1), "started"}}},
		"a crash of a host": {4, []api.Attempt{told, last}, nil, []Event{{at(1), "started"}, {at(2), "attempt 1 ended: host 3: train.py:f was killed"},
			{at(4), "started again, attempt 3"}}},
		"a crash, then a pod that left no word": {1, []api.Attempt{crashed, silent, last}, []api.Disruption{{Time: at(1), Why: "not this one"}, {Time: at(4), Why: "nor this"}}, []Event{
			{at(1), "started"}, {at(2), "attempt 1 ended: killed, probably out of memory"},
			{at(3), "started again, attempt 2"},
			{at(4), "started again, attempt 3; attempt 2 was deleted, or lost its node"}}},
		"hosts that were told to end": {4, []api.Attempt{told, interrupted, last}, nil, []Event{{at(1), "started"}, {at(2), "attempt 1 ended: host 3: train.py:f was killed"},
			{at(3), "started again, attempt 2"}, {at(4), "attempt 2 was interrupted: host 1 was lost"}, {at(4), "started again, attempt 3"}}},
		"a pod that was told to end": {1, []api.Attempt{interrupted, last}, nil, []Event{{at(3), "started"},
			{at(4), "attempt 2 was interrupted by a preemption, a drain or a deletion"}, {at(4), "started again, attempt 3"}}},
		"and the cluster knows by what": {1, []api.Attempt{interrupted, last}, []api.Disruption{{Time: at(3), Why: "drained"}}, []Event{{at(3), "started"},
			{at(4), "attempt 2 was interrupted by a preemption, a drain or a deletion"}, {at(4), "started again, attempt 3; attempt 2 was lost: drained"}}},
		"the last is told by the end of the job": {1, []api.Attempt{interrupted}, nil, []Event{{at(3), "started"}}},
		"losses that the cluster knows": {1, []api.Attempt{{Attempt: 1, Started: at(1).Add(time.Second / 2)}, silent, last},
			[]api.Disruption{{Time: at(1), Why: "preempted"}, {Time: at(3), Why: "drained"}, {Time: at(3), Why: "preempted"}}, []Event{
				{at(1).Add(time.Second / 2), "started"},
				{at(3), "started again, attempt 2; attempt 1 was lost: preempted"},
				{at(4), "started again, attempt 3; attempt 2 was lost: drained"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Description{Handle: api.Handle{CreatedAt: at(0), Client: "v1", Hosts: tt.hosts}, Status: api.Status{State: api.Succeeded, Started: at(1)},
				End: &api.End{State: api.Succeeded, Finished: at(5)}}
			want := append([]Event{{at(0), "submitted by kubectl kinetic v1"}}, tt.want...)
			want = append(want, Event{at(5), "succeeded"})
			if diff := cmp.Diff(want, timeline(d, tt.attempts, tt.losses)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The next attempt waits, perhaps for long.
func TestTimelineOfAnAttemptThatWasInterrupted(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	d := Description{Handle: api.Handle{CreatedAt: at(0), Client: "v1", Hosts: 2}, Status: api.Status{State: api.Pending}}
	want := []Event{{at(0), "submitted by kubectl kinetic v1"}, {at(1), "started"}, {at(2), "attempt 1 was interrupted: host 1 was lost"}}
	got := timeline(d, []api.Attempt{{Attempt: 1, Started: at(1), Message: "host 1 was lost", Finished: at(2)}}, nil)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A pod's times are whole seconds, and not by our clock.
func TestTimelineNeverRunsBackwards(t *testing.T) {
	at := func(ms int) time.Time { return time.Date(2026, 1, 1, 0, 0, 5, ms*1e6, time.UTC) }
	d := Description{Handle: api.Handle{CreatedAt: at(300), Client: "v1"}, Status: api.Status{State: api.Failed, Reason: api.Cancelled, Message: "cancelled", Finished: at(0)}}
	want := []Event{{at(300), "submitted by kubectl kinetic v1"}, {at(900), "started"}, {at(900), "cancelled"}}
	if diff := cmp.Diff(want, timeline(d, []api.Attempt{{Attempt: 1, Started: at(900)}}, nil)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// grouped is a cluster where two hosts have pods, one of which has ended. It also
// remembers disruptions.
type grouped struct {
	steps
	disruptions []api.Disruption
}

func (g grouped) Inspect(_ context.Context, _ api.Handle, disruptions bool) (api.WorkloadDetail, error) {
	d := api.WorkloadDetail{Hosts: []api.Host{{Host: 0, State: api.Succeeded}, {Host: 1, State: api.Running}}}
	if disruptions {
		d.Disruptions = g.disruptions
	}
	return d, nil
}

// The pods of a LeaderWorkerSet exist for a moment after the job has ended. They run
// nothing, unless the set could not be released.
func TestDescribeTellsNoHostAsRunningOfAJobThatHasEnded(t *testing.T) {
	const end = `{"version":1,"state":"SUCCEEDED","reason":"Completed"}`
	tests := map[string]struct {
		status api.Status
		end    string
		want   int
	}{
		"it runs":        {api.Status{State: api.Running}, "", 2},
		"it has ended":   {api.Status{State: api.Succeeded}, end, 1},
		"it is gone":     {api.Status{State: api.NotFound}, end, 1},
		"it holds hosts": {api.Status{State: api.Running, UnreleasedHosts: "2 hosts"}, end, 2},
	}
	for name, tt := range tests {
		objects := map[string]string{}
		if tt.end != "" {
			objects["a1/end.json"] = tt.end
		}
		j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, objects), Backend: grouped{steps: steps{tt.status}}}
		d, err := j.Describe(t.Context())
		if err != nil || len(d.Hosts) != tt.want {
			t.Errorf("%s: %v, %v; want %d", name, d.Hosts, err, tt.want)
		}
	}
}

func TestDescribeTellsWhatTheClusterKnowsOfALoss(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	j := &Job{Handle: api.Handle{JobID: "a1", Client: "v1", CreatedAt: at(0)},
		Store: storeWith(t, map[string]string{"a1/attempts/1.json": `{"attempt":1,"started":"2026-01-01T00:00:01Z"}`,
			"a1/attempts/2.json": `{"attempt":2,"started":"2026-01-01T00:00:03Z"}`}),
		Backend: grouped{steps: steps{{State: api.Running}}, disruptions: []api.Disruption{{Time: at(2), Why: "drained"}}}}
	d, err := j.Describe(t.Context())
	want := []Event{{at(0), "submitted by kubectl kinetic v1"}, {at(1), "started"}, {at(3), "started again, attempt 2; attempt 1 was lost: drained"}}
	if diff := cmp.Diff(want, d.Timeline); diff != "" || err != nil {
		t.Errorf("%v, (-want +got)\n%s", err, diff)
	}
}

// metered is a store that counts the bytes that are read from it.
type metered struct {
	store.Store
	read *int
}

type meteredReader struct {
	io.ReadCloser
	read *int
}

func (s metered) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := s.Store.Open(ctx, name)
	return meteredReader{r, s.read}, err
}

func (r meteredReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	*r.read += n
	return n, err
}

// Describing a job does not download what it returned.
func TestDescribeReadsNoValue(t *testing.T) {
	const head = `{"version":1,"ok":true,"pickle":null,"error":null,"warnings":["value.loss is NaN"],"differs":true,"value":`
	read := 0
	j := &Job{Handle: api.Handle{JobID: "a1"}, Backend: steps{{State: api.Succeeded}},
		Store: metered{storeWith(t, map[string]string{"a1/result.json": head + `"` + strings.Repeat("x", 10<<20) + `"}`}), &read}}
	d, err := j.Describe(t.Context())
	if err != nil || !d.HasResult || !slices.Equal(d.Warnings, []string{"value.loss is NaN"}) {
		t.Errorf("got %+v, %v", d, err)
	}
	if read > 1<<20 {
		t.Errorf("%d bytes were read", read)
	}
}

// What the client did not choose is what the pod has written down.
func TestDescribeTellsPackages(t *testing.T) {
	const list = `{"version":1,"python":"3.12","wheels":[{"file":"six-1.16.0-py2.py3-none-any.whl","sha256":"ab","size":11}]}`
	six := []api.Package{{File: "six-1.16.0-py2.py3-none-any.whl", SHA256: "ab"}}
	for name, tt := range map[string]struct {
		handle  api.Handle
		objects map[string]string
		want    []api.Package
	}{
		"the client chose them":     {api.Handle{JobID: "a1", Packages: six, EnvironmentSHA256: "cd"}, nil, six},
		"the pod chose them":        {api.Handle{JobID: "a1", EnvironmentSHA256: "cd"}, map[string]string{"a1/environment.json": list}, six},
		"the pod has not begun":     {api.Handle{JobID: "a1", EnvironmentSHA256: "cd"}, nil, nil},
		"nobody is known to choose": {api.Handle{JobID: "a1"}, map[string]string{"a1/environment.json": list}, nil},
	} {
		j := &Job{Handle: tt.handle, Store: storeWith(t, tt.objects), Backend: steps{{State: api.Running}}}
		d, err := j.Describe(t.Context())
		if diff := cmp.Diff(tt.want, d.Packages); diff != "" || err != nil {
			t.Errorf("%s: %v, (-want +got)\n%s", name, err, diff)
		}
	}
}
