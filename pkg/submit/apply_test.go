package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// workload stands for a cluster: start and ready say what it does.
type workload struct {
	jobtest.Backend
	start, ready func() error
}

func (w workload) steps() Hooks {
	return Hooks{
		Ready: func(context.Context) error { return w.ready() },
		Start: func(context.Context, api.Spec, map[string]string) error { return w.start() },
	}
}

// apply carries a plan out in a place of a workload, prepare for someone else to apply it.
func apply(ctx context.Context, p Planned, registry job.Registry) (Submitted, error) {
	return Apply(ctx, p, registry, registry.Backend.(workload).steps(), nil)
}

func prepare(ctx context.Context, p Planned, registry job.Registry) (Submitted, error) {
	steps := registry.Backend.(workload).steps()
	return Apply(ctx, p, registry, Hooks{Start: steps.Start}, nil)
}

type sender = func(context.Context, Planned, job.Registry) (Submitted, error)

func well() error { return nil }

// planned is a job of an empty directory.
func planned(t *testing.T, call string) Planned {
	t.Helper()
	files, err := pack.New(t.Context(), pack.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	spec := api.Spec{ID: "a1", Name: "f", Namespace: "ml", CallSHA256: sha256Hex([]byte(call)), BundleSHA256: files.SHA256, Placement: api.Placement{Backend: api.BackendGKE}}
	return Planned{Spec: spec, Call: []byte(call), Files: files}
}

func registry(t *testing.T, w workload) job.Registry {
	t.Helper()
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return job.Registry{Backend: w, Kind: api.BackendGKE, Store: s}
}

// stored is the text of an object, "" if there is none.
func stored(t *testing.T, p job.Registry, name string) string {
	t.Helper()
	r, err := p.Store.Open(t.Context(), name)
	if errors.Is(err, store.ErrNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, p job.Registry, name, text string) {
	t.Helper()
	if err := p.Store.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
}

// A start that fails leaves no records, but where the job may run.
func TestRecordsOfAStartThatFails(t *testing.T) {
	tests := map[string]struct {
		fails error
		kept  bool
		says  string
	}{
		"refused":                 {errors.New("forbidden"), false, "forbidden"},
		"may run":                 {fmt.Errorf("no answer: %w", api.ErrMayRun), true, "jobs logs -f a1"},
		"another job's name":      {fs.ErrExist, false, "\"a1\" is already taken in namespace ml"},
		"the same job's workload": {errors.Join(fs.ErrExist, api.ErrMayRun), true, "already taken by the same job in namespace ml: follow it with kubectl kinetic jobs logs -f a1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := registry(t, workload{start: func() error { return tt.fails }, ready: well})
			_, err := apply(t.Context(), planned(t, "{}"), p)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q in it", err, tt.says)
			}
			handle, call := stored(t, p, store.Handle("a1")), stored(t, p, store.Call("a1"))
			if (handle != "") != tt.kept || (call != "") != tt.kept {
				t.Errorf("kept handle %q and call %q, want them kept: %v", handle, call, tt.kept)
			}
		})
	}
}

// The records are there before the workload, which is there in the end.
func TestApplyDescribesBeforeItStarts(t *testing.T) {
	for name, do := range map[string]sender{"apply": apply, "prepare": prepare} {
		t.Run(name, func(t *testing.T) {
			var p job.Registry
			seen := ""
			p = registry(t, workload{start: func() error { seen = stored(t, p, store.Handle("a1")) + stored(t, p, store.Call("a1")); return nil }, ready: well})
			if _, err := do(t.Context(), planned(t, `{"call":1}`), p); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(seen, `"job_id": "a1"`) || !strings.Contains(seen, `{"call":1}`) {
				t.Errorf("at its start the workload found %q", seen)
			}
		})
	}
}

// What can't be made ready stops the submit before it is described.
func TestApplyStopsWhereTheClusterIsNotReady(t *testing.T) {
	p := registry(t, workload{start: func() error { return errors.New("it was started") }, ready: func() error { return errors.New("no such namespace") }})
	_, err := apply(t.Context(), planned(t, "{}"), p)
	if err == nil || err.Error() != "no such namespace" || stored(t, p, store.Handle("a1")) != "" {
		t.Errorf("got %v", err)
	}
}

// A call without a handle is left by a submit that was cut off, or lost a race.
func TestApplyReplacesACallThatNobodyOwns(t *testing.T) {
	p := registry(t, workload{start: well, ready: well})
	write(t, p, store.Call("a1"), `{"another":"call"}`)
	if _, err := apply(t.Context(), planned(t, "{}"), p); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, p, store.Call("a1")); got != "{}" {
		t.Errorf("the call is %q", got)
	}
}

// An id is taken by who wrote its handle, at whatever moment.
func TestApplyLeavesAnIDThatIsTaken(t *testing.T) {
	for name, when := range map[string]string{"before": "at once", "meanwhile": "in Ready"} {
		t.Run(name, func(t *testing.T) {
			var p job.Registry
			take := func() error {
				write(t, p, store.Handle("a1"), `{"version":1,"job_id":"a1","call_sha256":"other"}`)
				write(t, p, store.Call("a1"), `{"other":1}`)
				return nil
			}
			w := workload{start: func() error { return errors.New("it was started") }, ready: well}
			if when == "in Ready" {
				w.ready = take
			}
			p = registry(t, w)
			if when == "at once" {
				_ = take()
			}
			_, err := apply(t.Context(), planned(t, "{}"), p)
			var exists *ExistsError
			if !errors.As(err, &exists) {
				t.Errorf("got %v", err)
			}
			if got := stored(t, p, store.Call("a1")); got != `{"other":1}` {
				t.Errorf("the other's call is %q", got)
			}
		})
	}
}

// A cleanup keeps outputs. A new job of that ID would deliver them as its own, and its runner would take their index
// for one of a job that has ended.
func TestApplyToTheIDOfOutputs(t *testing.T) {
	for name, tt := range map[string]struct{ object, dir, next string }{
		"an index":           {"a1/sync/0.json", "", "kubectl kinetic jobs cleanup a1 --outputs -n ml"},
		"files":              {"a1/outputs/last.pt", "", "rm -r "},
		"of a longer ID":     {"a1-2/outputs/last.pt", "", ""},
		"to write elsewhere": {"a1/outputs/last.pt", "gs://b/runs", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := registry(t, workload{start: well, ready: well})
			write(t, p, tt.object, "{}")
			plan := planned(t, "{}")
			plan.Spec.OutputDir = tt.dir
			_, err := apply(t.Context(), plan, p)
			var exists *ExistsError
			if errors.As(err, &exists) != (tt.next != "") || exists != nil && !strings.HasPrefix(exists.Next(), tt.next) {
				t.Errorf("got %v, want it refused with %q", err, tt.next)
			}
			if exists != nil && (!strings.Contains(err.Error(), `an earlier job with the ID "a1" has left outputs in `) || stored(t, p, store.Handle("a1")) != "") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The job of a handle that can't be read may be running: a later release may have submitted it.
func TestApplyToTheIDOfAnUnreadableHandle(t *testing.T) {
	p := registry(t, workload{start: well, ready: well})
	write(t, p, store.Handle("a1"), `{"schema_version":99}`)
	write(t, p, "a1/outputs/last.pt", "weights")
	_, err := apply(t.Context(), planned(t, "{}"), p)
	var exists *ExistsError
	if !errors.As(err, &exists) || exists.Removal != "" || !strings.Contains(err.Error(), "already taken") {
		t.Errorf("got %v", err)
	}
}

// A submit is repeated with the records that its first try left.
func TestApplyAdoptsItsOwnRecords(t *testing.T) {
	p := registry(t, workload{start: well, ready: well})
	first := planned(t, "{}")
	if _, err := prepare(t.Context(), first, p); err != nil {
		t.Fatal(err)
	}
	for _, do := range []sender{prepare, apply} {
		if _, err := do(t.Context(), first, p); err != nil {
			t.Error(err)
		}
	}
	if _, err := apply(t.Context(), planned(t, `{"changed":1}`), p); err == nil {
		t.Error("another call took the id over")
	}
}

// Who adopts the records of a submit that still runs keeps them when that one fails.
func TestASubmitWhoseRecordsWereAdoptedRemovesNone(t *testing.T) {
	var p job.Registry
	tries := 0
	p = registry(t, workload{ready: well, start: func() error {
		if tries++; tries > 1 {
			return nil
		}
		again := planned(t, "{}")
		again.Spec.Created = again.Spec.Created.Add(time.Second)
		if _, err := apply(t.Context(), again, p); err != nil {
			t.Errorf("the second submit: %v", err)
		}
		return errors.New("interrupted")
	}})
	if _, err := apply(t.Context(), planned(t, "{}"), p); err == nil {
		t.Error("the first submit succeeded")
	}
	if handle, call := stored(t, p, store.Handle("a1")), stored(t, p, store.Call("a1")); handle == "" || call == "" {
		t.Errorf("the second submit has the handle %q and the call %q", handle, call)
	}
}

// Only where a pod would have no way to the store is it an error.
func TestStoreAccess(t *testing.T) {
	tests := map[string]struct {
		change func(*Planned)
		fails  bool
	}{
		"nothing":              {func(*Planned) {}, true},
		"on GKE":               {func(p *Planned) { p.Target.GKE = true }, false},
		"a Secret":             {func(p *Planned) { p.Spec.StoreCredentials = "key" }, false},
		"an emulator":          {func(p *Planned) { p.Spec.Env = []api.EnvVar{{Name: "STORAGE_EMULATOR_HOST", Value: "x"}} }, false},
		"credentials of yours": {func(p *Planned) { p.Spec.Env = []api.EnvVar{{Name: "GOOGLE_APPLICATION_CREDENTIALS", Value: "x"}} }, false},
		"another variable":     {func(p *Planned) { p.Spec.Env = []api.EnvVar{{Name: "X", Value: "x"}} }, true},
		"on this machine":      {func(p *Planned) { p.Spec.Backend = api.BackendLocal }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := Planned{Spec: api.Spec{Store: "gs://bucket", Placement: api.Placement{Backend: api.BackendGKE}}}
			tt.change(&p)
			if err := p.StoreAccess(); (err != nil) != tt.fails {
				t.Errorf("got %v", err)
			}
		})
	}
}
