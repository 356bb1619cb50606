package report

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// collectable is a job with this result.json, "" for one that has none.
func collectable(t *testing.T, result string) *job.Job {
	t.Helper()
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if result != "" {
		if err := s.Create(t.Context(), store.Result("a1"), strings.NewReader(result), nil); err != nil {
			t.Fatal(err)
		}
	}
	return &job.Job{Handle: api.Handle{JobID: "a1"}, Store: s}
}

// A file holds the result as a whole, or what it held before.
func TestResultFile(t *testing.T) {
	const old = "the only copy"
	for name, tt := range map[string]struct {
		result, before string
		mode           fs.FileMode
		want           string
	}{
		"new":                        {`{"version":1,"ok":true,"value":[1,2]}`, "", 0, "[1,2]\n"},
		"in the place of another":    {`{"version":1,"ok":true,"value":[1,2]}`, old, 0o640, "[1,2]\n"},
		"no value":                   {`{"version":1,"ok":true}`, old, 0o600, "null\n"},
		"collected already":          {"", old, 0o600, old},
		"collected already, no file": {"", "", 0, ""},
		"cut":                        {`{"version":1,"ok":true,"value":"` + strings.Repeat("x", 1<<20), old, 0o600, old},
		"cut, no file":               {`{"version":1,"ok":true,"value":"` + strings.Repeat("x", 1<<20), "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "r.json")
			if tt.before != "" {
				if err := errors.Join(os.WriteFile(file, []byte(tt.before), tt.mode), os.Chmod(file, tt.mode)); err != nil {
					t.Fatal(err)
				}
			}
			streams, _, _, _ := genericiooptions.NewTestIOStreams()
			err := Collect(t.Context(), streams, collectable(t, tt.result), Collection{File: file})
			if written := strings.HasSuffix(tt.want, "\n"); (err == nil) != written {
				t.Errorf("got %v", err)
			}
			got, err := os.ReadFile(file)
			if string(got) != tt.want || errors.Is(err, fs.ErrNotExist) != (tt.want == "") {
				t.Errorf("the file holds %.40q (%v), want %q", got, err, tt.want)
			}
			if info, err := os.Stat(file); err == nil && tt.mode != 0 && info.Mode() != tt.mode {
				t.Errorf("the file has mode %s, want %s", info.Mode(), tt.mode)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 1 || len(left) == 1 && left[0].Name() != "r.json" {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

// What is no plain file stays what it is.
func TestResultIsWrittenInto(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, []byte("a longer text before"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	for _, file := range []string{link, os.DevNull} {
		if err := Collect(t.Context(), streams, collectable(t, `{"version":1,"ok":true,"value":7}`), Collection{File: file}); err != nil {
			t.Error(err)
		}
		if info, err := os.Lstat(file); err != nil || info.Mode().IsRegular() {
			t.Errorf("%s was replaced: %v, %v", file, info.Mode(), err)
		}
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "7\n" {
		t.Errorf("the link leads to %q, %v", got, err)
	}
}

func TestWarningsOfAValueAreToldOnce(t *testing.T) {
	for name, tt := range map[string]struct{ result, want string }{
		"none":  {`{"version":1,"ok":true,"value":1}`, ""},
		"exact": {`{"version":1,"ok":true,"value":1,"warnings":["value is an int64"]}`, "warning: value is an int64\n"},
		"with pickle": {`{"version":1,"ok":true,"value":null,"pickle":"result-2.pkl","differs":true,"warnings":["value is NaN","a"]}`,
			"warning: value is NaN\nwarning: a\nexact value, pickled: STORE/a1/result-2.pkl\n"},
		"only pickle": {`{"version":1,"ok":true,"value":[1],"pickle":"result.pkl","warnings":["a"]}`, "warning: a\n"},
		"in the log":  {`{"version":1,"ok":true,"value":1,"warnings":["in the log","in the log too"]}`, "warning: in the log too\n"},
		"harmless":    {`{"version":1,"ok":true,"value":1,"warnings":["\u001b[2J"]}`, "warning: \\x1b[2J\n"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, said := genericiooptions.NewTestIOStreams()
			j := collectable(t, tt.result)
			warnings := NewWarningLog(io.Discard)
			if _, err := warnings.Write([]byte("kinetic: warning: in the log\n")); err != nil {
				t.Fatal(err)
			}
			if err := Collect(t.Context(), streams, j, Collection{WarningLog: warnings}); err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(said.String(), j.Store.URL(), "STORE"); got != tt.want {
				t.Errorf("said %q, want %q", got, tt.want)
			}
		})
	}
}

// kept is a backend whose workloads may not be removed.
func kept() jobtest.Backend {
	return jobtest.Backend{Deleted: func(api.Handle) error { return errors.New("you need the verb delete on jobs") }}
}

// A value that has reached its reader is no failure, whatever becomes of the rest.
func TestAWorkloadThatStaysIsAWarning(t *testing.T) {
	const want = "warning: job a1 was collected, but its workload could not be deleted: you need the verb delete on jobs\n"
	t.Run("a call", func(t *testing.T) {
		streams, _, out, said := genericiooptions.NewTestIOStreams()
		j := collectable(t, `{"version":1,"ok":true,"value":7}`)
		j.Backend = kept()
		if err := Collect(t.Context(), streams, j, Collection{Cleanup: RemoveWorkload}); err != nil || out.String() != "7\n" || said.String() != want {
			t.Errorf("%v, printed %q, said %q", err, out, said)
		}
	})
	t.Run("a map", func(t *testing.T) {
		streams, _, _, said := genericiooptions.NewTestIOStreams()
		j := collectable(t, "")
		j.Handle.Map, j.Backend = &api.Map{Inputs: 1, Chunk: 1}, kept()
		end := MapEnd{Status: api.Status{State: api.Succeeded}}
		if err := SettleMap(t.Context(), streams, ui.New(streams.ErrOut, time.Now), j, end, RemoveWorkload); err != nil || said.String() != want {
			t.Errorf("%v, said %q", err, said)
		}
	})
}

// broken is a store that can't be written to, nor read where that is set.
type broken struct {
	store.Store
	unread bool
}

var errBroken = errors.New("the bucket is locked")

func (s broken) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if s.unread && name == store.Collected("a1") {
		return nil, errBroken
	}
	return s.Store.Open(ctx, name)
}

func (broken) Create(context.Context, string, io.Reader, map[string]string) error { return errBroken }
func (broken) Delete(context.Context, string) error                               { return errBroken }

// The warning names what failed, and what removes the result that was to be deleted.
func TestWarningNamesWhatWasNotRemoved(t *testing.T) {
	const begin = "warning: job a1 was collected, but "
	const deletion = begin + "its call and result could not be deleted: the bucket is locked; delete all that is left with: kubectl kinetic jobs cleanup a1\n"
	for name, tt := range map[string]struct {
		cleanup Cleanup
		unread  bool
		want    string
	}{
		"the check":    {RemoveWorkload, true, begin + "could not check in the store whether its workload was deleted: the bucket is locked\n"},
		"the record":   {RemoveWorkload, false, begin + "the deletion of its workload could not be recorded: the bucket is locked\n"},
		"the deletion": {DeleteResult, false, begin + "the deletion of its workload could not be recorded: the bucket is locked\n" + deletion},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, out, said := genericiooptions.NewTestIOStreams()
			j := collectable(t, `{"version":1,"ok":true,"value":7}`)
			j.Store, j.Backend = broken{j.Store, tt.unread}, jobtest.Backend{}
			if err := Collect(t.Context(), streams, j, Collection{Cleanup: tt.cleanup}); err != nil || out.String() != "7\n" || said.String() != tt.want {
				t.Errorf("%v, printed %q, said %q, want %q", err, out, said, tt.want)
			}
		})
	}
}
