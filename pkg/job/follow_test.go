package job

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// slow is a cluster that may never learn that the job has ended.
type slow struct {
	steps          // of its states
	refusal error  // of a stop
	unseen  error  // of one that was accepted
	asked   func() // when a stop is asked for, if set
}

func (s slow) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	last, err := s.steps.Watch(ctx, h, seen)
	if last.State.Ended() {
		return last, err
	}
	<-ctx.Done()
	return last, ctx.Err()
}

func (slow) Logs(ctx context.Context, _ api.Handle, a *logs.Archive, _ logs.Options, w display.Streams) error {
	if _, err := io.WriteString(w.Out, "printed\n"); err != nil {
		return err
	}
	if a.Ended(ctx) {
		return nil
	}
	return errors.New("the connection broke for good")
}

func (s slow) Delete(_ context.Context, _ api.Handle, o api.DeleteOptions) error {
	if s.asked != nil {
		s.asked()
	}
	if s.refusal != nil {
		return s.refusal
	}
	return errors.Join(o.Ending(), s.unseen)
}

func TestFollowEndsWithTheLog(t *testing.T) {
	running, failed := api.Status{State: api.Running, Attempt: 1}, api.Status{State: api.Failed, Message: "exit code 1"}
	tests := map[string]struct {
		steps steps
		end   string // in the store
		want  string
	}{
		"success is told by the store":              {steps{running}, `{"version":1,"state":"SUCCEEDED","reason":"Completed"}`, "succeeded, <nil>"},
		"how it failed too, once the cluster knows": {steps{running, failed}, runnerEnd, "failed: the runner's word, <nil>"},
		"a log that is wrong":                       {steps{running}, "", "running, the connection broke for good"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			objects := map[string]string{}
			if tt.end != "" {
				objects["a1/end.json"] = tt.end
			}
			j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, objects), Backend: slow{steps: tt.steps}}
			var out bytes.Buffer
			status, err := j.Follow(t.Context(), logs.Options{Tail: -1, Host: -1}, display.Both(&out), nil)
			if got := fmt.Sprintf("%s, %v", status.Outcome(), err); got != tt.want || out.String() != "printed\n" {
				t.Errorf("got %s and %q, want %s", got, out.String(), tt.want)
			}
		})
	}
}

// chorus is a cluster where the logs of several hosts seem to announce the end, one of
// them after the job was cleaned up.
type chorus struct {
	slow
	store store.Store
}

func (c chorus) Logs(ctx context.Context, _ api.Handle, a *logs.Archive, _ logs.Options, _ display.Streams) error {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { a.Ended(ctx) })
	}
	all.Wait()
	defer a.Ended(ctx)
	return c.store.Delete(ctx, store.End("a1"))
}

// A call can print the line with which a log announces the end.
func TestFollowEndsWithTheLogOfAnyHost(t *testing.T) {
	s := storeWith(t, map[string]string{"a1/end.json": `{"version":1,"state":"SUCCEEDED","reason":"Completed"}`})
	j := &Job{Handle: api.Handle{JobID: "a1"}, Store: s, Backend: chorus{slow{steps: steps{{State: api.Running}}}, s}}
	status, err := j.Follow(t.Context(), logs.Options{Tail: -1, Host: -1}, display.Both(io.Discard), nil)
	if err != nil || status.State != api.Succeeded {
		t.Errorf("got %+v, %v, want a success", status, err)
	}
}

// keeping is a store in which a job's end, once it is there, always is.
type keeping struct {
	store.Store
	t   *testing.T
	end string // in the metadata of the result
}

func (k keeping) List(ctx context.Context, prefix, start string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		for o, err := range k.Store.List(ctx, prefix, start) {
			if k.end != "" && o.Name == store.Result("a1") {
				o.Metadata = map[string]string{"end": k.end}
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

func (k keeping) Delete(ctx context.Context, name string) error {
	k.t.Errorf("%s was deleted: who looks now takes the job for one that somebody has deleted", name)
	return k.Store.Delete(ctx, name)
}

// mute is a cluster that doesn't tell states.
type mute struct{ slow }

func (mute) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{}, errors.New("its queue can't be read")
}

func TestCancelNeedsNoState(t *testing.T) {
	j := &Job{Handle: api.Handle{JobID: "a1"}, Store: storeWith(t, nil), Backend: mute{}}
	if _, err := j.Cancel(t.Context(), time.Second, time.Now(), api.CancelledMessage); err != nil {
		t.Fatal(err)
	}
	if end, err := j.end(t.Context()); err != nil || end.Reason != api.Cancelled {
		t.Errorf("it recorded %+v, %v", end, err)
	}
}

func TestCancelLeavesNoWordOnAJobThatGoesOn(t *testing.T) {
	refused, unseen := errors.New("forbidden"), errors.New("its node is lost")
	const terminated = `{"version":1,"state":"FAILED","reason":"Terminated","by":"runner"}`
	const disrupted = `{"version":1,"state":"FAILED","reason":"Disrupted","by":"runner"}`
	tests := map[string]struct {
		refusal, unseen error
		objects         map[string]string
		end             string // that the result has
		want            string // who recorded the end of the job in the store
	}{
		"accepted":                             {want: "cancel"},
		"refused":                              {refusal: refused},
		"accepted, and its end unseen":         {unseen: unseen, want: "cancel"},
		"refused, and it had ended":            {refusal: refused, objects: map[string]string{"a1/end.json": runnerEnd}, want: "runner"},
		"accepted, and it had ended by itself": {objects: map[string]string{"a1/end.json": runnerEnd}, want: "runner"},
		"its runner told of the signal before": {objects: map[string]string{"a1/end.json": terminated}, want: "cancel"},
		"a result was stored before":           {objects: map[string]string{"a1/result.json": "{}"}, end: runnerEnd, want: "runner"},
		"a result of a call that was told":     {objects: map[string]string{"a1/result.json": "{}"}, end: terminated, want: "cancel"},
		"a result and an end of such a call":   {objects: map[string]string{"a1/result.json": "{}", "a1/end.json": terminated}, end: disrupted, want: "cancel"},
		"its runner told of the other hosts":   {objects: map[string]string{"a1/end.json": disrupted}, want: "cancel"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := keeping{storeWith(t, tt.objects), t, tt.end}
			said := func() string {
				end, _ := records.Read[api.End](t.Context(), s, store.End("a1"))
				return end.By
			}
			before := said()
			asked := func() {
				if now := said(); now != before {
					t.Errorf("were it killed now, %q would have recorded the end of a running job", now)
				}
			}
			j := &Job{Handle: api.Handle{JobID: "a1"}, Store: s,
				Backend: slow{steps: steps{{State: api.Running}}, refusal: tt.refusal, unseen: tt.unseen, asked: asked}}
			if _, err := j.Cancel(t.Context(), time.Second, time.Now(), api.CancelledMessage); !errors.Is(err, cmp.Or(tt.refusal, tt.unseen)) {
				t.Errorf("got %v", err)
			}
			if by := said(); by != tt.want {
				t.Errorf("recorded by %q, want %q", by, tt.want)
			}
		})
	}
}

// again is a cluster that sends its reader to the store three times.
type again struct{ steps }

func (again) Logs(ctx context.Context, _ api.Handle, a *logs.Archive, _ logs.Options, w display.Streams) error {
	p := logs.Point{Pod: "of-2"}
	for range 3 {
		var err error
		if p, err = a.Rest(ctx, p, w.Out); err != nil {
			return err
		}
	}
	return nil
}

// asked is a store that remembers what was opened.
type asked struct {
	store.Store
	opened []string
}

func (s *asked) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	s.opened = append(s.opened, name)
	return s.Store.Open(ctx, name)
}

// The number of an attempt never changes, nor does a part of its log.
func TestTheRecordsAndTheLogOfAnAttemptAreReadOnce(t *testing.T) {
	s := &asked{Store: storeWith(t, map[string]string{"a1/attempts/2.json": `{"attempt":2,"uid":"of-2"}`,
		"a1/logs/0/2-1.log": "2026-01-01T00:00:01.000000Z hello\n"})}
	j := &Job{Handle: api.Handle{JobID: "a1"}, Store: s, Backend: again{steps{{State: api.Running}}}}
	var out bytes.Buffer
	if err := j.Logs(t.Context(), logs.Options{Tail: -1}, display.Both(&out)); err != nil || out.String() != "2026-01-01T00:00:01.000000Z hello\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	want := []string{"a1/attempts/2.json", "a1/logs/0/2-1.log"}
	if !slices.Equal(s.opened, want) {
		t.Errorf("opened %q, want %q", s.opened, want)
	}
}

// away is a cluster that can't be reached.
type away struct{ steps }

func (away) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{}, errors.New("dial tcp: i/o timeout")
}

func (away) Watch(context.Context, api.Handle, func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{}, errors.New("dial tcp: i/o timeout")
}

// The log of a job that has ended is read without its cluster if the store has all of it, or
// if the cluster can't be reached.
func TestFollowAJobThatHasEndedWithoutItsCluster(t *testing.T) {
	const byClient = `{"version":1,"state":"FAILED","reason":"Killed","by":"client"}`
	one := api.Handle{JobID: "a1", Backend: api.BackendGKE, Hosts: 1}
	two := api.Handle{JobID: "a1", Backend: api.BackendGKE, Hosts: 2}
	for name, tt := range map[string]struct {
		handle api.Handle
		end    string
		result string
		away   bool
		want   string
	}{
		"the runner has stored all":          {one, runnerEnd, "", true, "stored\n failed: the runner's word, <nil>"},
		"the cluster may know more":          {one, byClient, "", false, "printed\n failed: Killed, <nil>"},
		"the cluster is away":                {one, byClient, "", true, "stored\n failed: Killed, <nil>"},
		"a part of the log was not stored":   {one, runnerEnd, `{"version":1,"ok":false,"warnings":["the end of the log is not in the store"]}`, false, "printed\n failed: the runner's word, <nil>"},
		"several hosts store each their own": {two, runnerEnd, "", false, "printed\n failed: the runner's word, <nil>"},
		"it has not ended":                   {one, "", "", true, " , dial tcp: i/o timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := map[string]string{"a1/logs/0/1-1.log": "2026-11-20T08:20:20.000000Z stored\n"}
			if tt.end != "" {
				objects["a1/end.json"] = tt.end
			}
			if tt.result != "" {
				objects["a1/result.json"] = tt.result
			}
			j := &Job{Handle: tt.handle, Store: storeWith(t, objects), Backend: slow{steps: steps{{State: api.Failed, Message: "exit code 1"}}}}
			if tt.away {
				j.Backend = away{}
			}
			var out bytes.Buffer
			status, err := j.Follow(t.Context(), logs.Options{Tail: -1, Host: -1}, display.Streams{Out: &out, Err: &out}, nil)
			outcome := ""
			if status.State != "" {
				outcome = status.Outcome()
			}
			if got := fmt.Sprintf("%s %s, %v", &out, outcome, err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
