package submit

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

// pickle returns the text of a payload.
func pickle(value string) string { return "\x80\x05" + value + "." }

// pickledCall is a plan of a job with a payload.
func pickledCall(t *testing.T, value string) Planned {
	t.Helper()
	path := filepath.Join(t.TempDir(), "call.pkl")
	if err := os.WriteFile(path, []byte(pickle(value)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := planned(t, "{}")
	var err error
	if p.payload, err = call.Read(path); err != nil {
		t.Fatal(err)
	}
	p.request.Payload, p.Spec.Payload, p.Spec.CallKind = "call.pkl", &p.payload.Payload, api.CallPickle
	return p
}

func TestApplyStoresThePayload(t *testing.T) {
	var p job.Registry
	seen := ""
	p = registry(t, workload{start: func() error { seen = stored(t, p, store.Payload("a1")); return nil }, ready: well})
	a := pickledCall(t, "one")
	var progress int64
	_, err := Apply(t.Context(), a, p, p.Backend.(workload).steps(), func(more int64) { progress += more })
	if err != nil || seen != pickle("one") || progress != a.StoredBytes() || progress < a.payload.Size {
		t.Errorf("at its start the workload found %q; progress %d of %d, %v", seen, progress, a.StoredBytes(), err)
	}
	if handle := stored(t, p, store.Handle("a1")); !strings.Contains(handle, a.payload.SHA256) {
		t.Errorf("the handle lacks the payload: %s", handle)
	}
}

// A submit that fails leaves no payload, one that may have started something does.
func TestPayloadOfAStartThatFails(t *testing.T) {
	for name, tt := range map[string]struct {
		fails error
		want  string
	}{"refused": {errors.New("forbidden"), ""}, "may run": {api.ErrMayRun, pickle("one")}} {
		t.Run(name, func(t *testing.T) {
			p := registry(t, workload{start: func() error { return tt.fails }, ready: well})
			if _, err := apply(t.Context(), pickledCall(t, "one"), p); err == nil || stored(t, p, store.Payload("a1")) != tt.want {
				t.Errorf("got %v, left %q, want %q", err, stored(t, p, store.Payload("a1")), tt.want)
			}
		})
	}
}

// A repeated submit keeps the payload that a pod may be reading, and replaces one that another
// submit left.
func TestPayloadOfARepeat(t *testing.T) {
	for name, tt := range map[string]struct {
		left    string
		removed bool
	}{"the same": {pickle("one"), false}, "another": {pickle("two"), true}} {
		t.Run(name, func(t *testing.T) {
			p := registry(t, workload{start: well, ready: well})
			write(t, p, store.Payload("a1"), tt.left)
			removed := false
			p.Store = faultyStore{Store: p.Store, remove: func(_ context.Context, name string) error {
				removed = removed || name == store.Payload("a1")
				return nil
			}}
			if _, err := apply(t.Context(), pickledCall(t, "one"), p); err != nil {
				t.Fatal(err)
			}
			if got := stored(t, p, store.Payload("a1")); got != pickle("one") || removed != tt.removed {
				t.Errorf("left %q, removed the old one: %v, want %v", got, removed, tt.removed)
			}
		})
	}
}

// The same call with another payload is another job.
func TestAnotherPayloadIsAnotherJob(t *testing.T) {
	p := registry(t, workload{start: well, ready: well})
	if _, err := apply(t.Context(), pickledCall(t, "one"), p); err != nil {
		t.Fatal(err)
	}
	_, err := apply(t.Context(), pickledCall(t, "two"), p)
	var exists *ExistsError
	if !errors.As(err, &exists) || exists.Same || stored(t, p, store.Payload("a1")) != pickle("one") {
		t.Errorf("got %v, and the payload %q", err, stored(t, p, store.Payload("a1")))
	}
}

// A payload that changes after it was hashed never gets into the store.
func TestAPayloadThatChanges(t *testing.T) {
	p, a := registry(t, workload{start: well, ready: well}), pickledCall(t, "one")
	if err := os.WriteFile(a.payload.Path, []byte(pickle("two")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := apply(t.Context(), a, p)
	if !errors.Is(err, store.ErrMismatch) || !strings.Contains(err.Error(), "--payload call.pkl changed while the job was submitted") {
		t.Errorf("got %v", err)
	}
	if left := stored(t, p, store.Payload("a1")) + stored(t, p, store.Handle("a1")) + stored(t, p, store.Call("a1")); left != "" {
		t.Errorf("left %q", left)
	}
}

// A taken ID ends the upload, which may take minutes.
func TestATakenIDEndsTheUpload(t *testing.T) {
	p := registry(t, workload{start: well, ready: well})
	ended := false
	p.Store = faultyStore{Store: p.Store,
		create: func(name string) error {
			if name == store.Handle("a1") {
				return store.ErrExists
			}
			return nil
		},
		large: func(ctx context.Context) error {
			<-ctx.Done()
			ended = true
			return ctx.Err()
		}}
	var exists *ExistsError
	if _, err := apply(t.Context(), pickledCall(t, "one"), p); !errors.As(err, &exists) || !ended {
		t.Errorf("got %v; the upload has ended: %v", err, ended)
	}
}

func TestTextsOfAPickledCall(t *testing.T) {
	for function, want := range map[string]struct{ name, text, id string }{
		"train":                  {"train", "train(…)", "cpu-train-"},
		"<lambda>":               {"<lambda>", "<lambda>(…)", "cpu-lambda-"},
		"A.b\n":                  {`A.b\n`, `A.b\n(…)`, "cpu-a-b-n-"},
		strings.Repeat("x", 500): {strings.Repeat("x", 125) + "…", strings.Repeat("x", 125) + "…(…)", "cpu-xxxxxxxxxxxxx"},
	} {
		c := api.Call{Kind: api.CallPickle, Function: function, Data: []api.Data{{Name: "d", Source: "s"}}}
		id := newID(api.Accelerator{Name: "cpu"}, callName(c), FixedIdentity(), maxID)
		if name, text := callName(c), callText(api.Request{}, c, nil, nil); name != want.name || text != want.text || !strings.HasPrefix(id, want.id) {
			t.Errorf("%q: got %q, %q and %q", function, name, text, id)
		}
	}
}

func TestArgumentsOfAPickledCall(t *testing.T) {
	c := api.Call{Kind: api.CallPickle, Function: "train"}
	value := func(text string) json.RawMessage { return json.RawMessage(text) }
	for want, tt := range map[string]struct {
		hide      bool
		arguments []call.Argument
	}{
		"train()": {false, []call.Argument{}},
		`train(steps=10, model=…, name="grün", stop=null)`: {false, []call.Argument{{Name: "steps", Value: value("10")}, {Name: "model"}, {Name: "name", Value: value(`"grün"`)}, {Name: "stop", Value: value("null")}}},
		`train(hf_token=…, id=…)`:                          {false, []call.Argument{{Name: "hf_token", Value: value(`"x"`)}, {Name: "id", Value: value(`"hf_aB3dE6gH"`)}}},
		"train(…)":                                         {true, []call.Argument{{Name: "steps", Value: value("10")}}},
	} {
		if got := callText(api.Request{HideArgs: tt.hide}, c, tt.arguments, nil); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// The Python of an image of the user's own is only known to the pod.
func TestPickledBy(t *testing.T) {
	for name, tt := range map[string]struct {
		python string // of the payload
		image  string
		images api.Images
		want   string // the Python of the image, or an error
	}{
		"it decides":                {python: "3.11", want: "3.11"},
		"unknown":                   {want: ""},
		"given":                     {python: "3.11", images: api.Images{Python: "3.11"}, want: "3.11"},
		"given, another":            {python: "3.11", images: api.Images{Python: "3.12"}, want: "--python 3.12: Python 3.11 made --payload call.pkl"},
		"given, unknown":            {images: api.Images{Python: "3.12"}, want: "3.12"},
		"none that we have":         {python: "3.7", want: "--payload call.pkl: Python 3.7 made it, and there are base images for"},
		"installed by the pod":      {python: "3.11", image: "prebuilt", want: "3.11"},
		"an image of one's own":     {python: "3.7", image: "me/mine:1", want: ""},
		"a base image of one's own": {python: "3.7", images: api.Images{BaseImage: "me/mine:1"}, want: ""},
		"one of build-image":        {python: "3.7", images: api.Images{BaseImageRepo: "me/base"}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := Planned{request: api.Request{Invocation: api.Invocation{Payload: "call.pkl"}, Placement: api.Placement{Image: tt.image}}}
			p.payload.Python = tt.python
			images, err := p.pickledBy(tt.images)
			got := images.Python
			if err != nil {
				got = err.Error()
			}
			if err == nil && got != tt.want || !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAMapIsResumedWithTheSamePayload(t *testing.T) {
	one, other := &api.Payload{SHA256: "1"}, &api.Payload{SHA256: "2"}
	p := Planned{Spec: api.Spec{Map: &api.Map{InputsSHA256: "i"}, Payload: one}}
	for payload, same := range map[*api.Payload]bool{one: true, {SHA256: "1"}: true, other: false, nil: false} {
		err := p.checkResume(api.Handle{Map: &api.Map{InputsSHA256: "i"}, Payload: payload})
		if (err == nil) != same {
			t.Errorf("%+v: got %v", payload, err)
		}
	}
}

func (s faultyStore) CreateLarge(ctx context.Context, name, sha256 string, size int64, open func() (io.ReadCloser, error)) error {
	if s.large != nil {
		return s.large(ctx)
	}
	return s.Store.CreateLarge(ctx, name, sha256, size, open)
}
