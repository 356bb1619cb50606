package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/job/verify"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// pickleHash is that of the pickle of pickledJob.
const pickleHash = "8a8de823d5ed3e12746a62ef169bcf372be0ca44f0a1236abc35df05d96928e1"

// pickledJob is a local job with a pickled call, whose end has this hash.
func pickledJob(t *testing.T, hash string) *job.Job {
	t.Helper()
	j := collectable(t, `{"version":1,"ok":true,"pickle":"result.pkl","differs":true,"json_warnings":1,"warnings":["no JSON for 1","1 output was not saved"],"value":"1"}`)
	j.Handle.CallKind, j.Handle.Backend, j.Backend = api.CallPickle, api.BackendLocal, jobtest.Backend{}
	for name, text := range map[string]string{
		store.End("a1"):                  `{"version":1,"state":"SUCCEEDED","pickle":{"name":"result.pkl","sha256":"` + hash + `","size":1}}`,
		store.Pickle("a1", "result.pkl"): "?",
		store.Payload("a1"):              "x",
	} {
		if err := j.Store.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func TestCollectAPickle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	events := event.NewWriter(errOut, time.Now)
	streams.ErrOut = events
	c := Collection{File: file, Cleanup: DeleteResult}
	j := pickledJob(t, pickleHash)
	if err := Collect(t.Context(), streams, j, c); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "?" || out.Len() > 0 {
		t.Errorf("the file has %q, %v; printed %q", text, err, out)
	}
	if want := fmt.Sprintf(`"warnings":["1 output was not saved"],"pickle":{"file":%q,"sha256":%q,"size":1,"trust":"local"}`, file, pickleHash); !strings.Contains(errOut.String(), want) {
		t.Errorf("said %s, want %s", errOut, want)
	}
	for _, name := range []string{store.Result("a1"), store.Pickle("a1", "result.pkl"), store.Payload("a1")} {
		if _, err := j.Store.Open(t.Context(), name); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A pickle that is not the reported one is not delivered, and stays.
func TestCollectAnotherPickle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	c := Collection{File: file, Cleanup: DeleteResult}
	j := pickledJob(t, strings.Repeat("ab", 32))
	var untrusted *verify.Error
	if err := Collect(t.Context(), genericiooptions.NewTestIOStreamsDiscard(), j, c); !errors.As(err, &untrusted) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file: %v", err)
	}
	if _, err := j.Store.Open(t.Context(), store.Payload("a1")); err != nil {
		t.Error(err)
	}
}

// Without a file the JSON is printed, and the exact value is kept.
func TestCollectTheJSONOfAPickle(t *testing.T) {
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	j := pickledJob(t, pickleHash)
	if err := Collect(t.Context(), streams, j, Collection{Cleanup: DeleteResult}); err != nil || out.String() != "\"1\"\n" {
		t.Errorf("got %v, printed %q", err, out)
	}
	if !strings.Contains(errOut.String(), "exact value, pickled: ") {
		t.Errorf("said %q", errOut)
	}
	if _, err := j.Store.Open(t.Context(), store.Pickle("a1", "result.pkl")); err != nil {
		t.Error(err)
	}
}

func TestSaveException(t *testing.T) {
	for name, tt := range map[string]struct {
		hash   string
		reason api.Reason
		saved  bool
		says   string
	}{
		"an exception":          {pickleHash, api.Exception, true, ""},
		"one that was changed":  {strings.Repeat("ab", 32), api.Exception, false, "warning: the exception was not written to "},
		"a call that was ended": {pickleHash, api.DeadlineExceeded, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "out")
			var w bytes.Buffer
			c := Collection{File: file, Status: api.Status{State: api.Failed, Reason: tt.reason}}
			raised := c.SaveException(t.Context(), &w, pickledJob(t, tt.hash))
			if _, err := os.Stat(file); (err == nil) != tt.saved || (raised != nil) != tt.saved {
				t.Errorf("the file: %v; got %+v", err, raised)
			}
			if !strings.HasPrefix(w.String(), tt.says) || tt.says == "" && w.Len() > 0 {
				t.Errorf("said %q", w.String())
			}
		})
	}
}
