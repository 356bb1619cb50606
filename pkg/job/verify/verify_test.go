package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// bucket is a directory that passes for a bucket.
type bucket struct {
	store.Store
	url string
}

func (b bucket) URL() string { return b.url }

// cluster says what it knows of a job, at once and after a while.
type cluster struct {
	jobtest.Backend
	now, later api.WorkloadStatus
	err        error
	waits      bool // for ever
}

func (c cluster) Status(context.Context, api.Handle) (api.WorkloadStatus, error) { return c.now, c.err }

func (c cluster) Watch(ctx context.Context, _ api.Handle, _ func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	if c.waits {
		<-ctx.Done()
		return c.now, ctx.Err()
	}
	return c.later, c.err
}

const value = "\x80\x05K\x01."

func pickleOf(text string) api.Pickle {
	sum := sha256.Sum256([]byte(text))
	return api.Pickle{Name: "result.pkl", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text))}
}

// jobIn is a job of a store with a URL, whose runner left a value.
func jobIn(t *testing.T, url string, b job.Backend) *job.Job {
	t.Helper()
	s, err := store.OpenFile("file://" + filepath.ToSlash(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	p := pickleOf(value)
	for name, text := range map[string]string{
		store.End("a1"):                  fmt.Sprintf(`{"version":1,"state":"SUCCEEDED","pickle":{"name":%q,"sha256":%q,"size":%d}}`, p.Name, p.SHA256, p.Size),
		store.Pickle("a1", "result.pkl"): value,
	} {
		if err := s.Create(t.Context(), name, strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	j := &job.Job{Handle: api.Handle{JobID: "a1", Backend: api.BackendGKE}, Store: s, Usual: "gs://mine", Backend: b}
	if url != "" {
		j.Store = bucket{s, url}
	}
	return j
}

func is(state api.State, p *api.Pickle) api.WorkloadStatus {
	return api.WorkloadStatus{Status: api.Status{State: state, Reported: p}}
}

func TestFind(t *testing.T) {
	mine, reported := "gs://mine", pickleOf("reported")
	gone, running, ended := is(api.NotFound, nil), is(api.Running, nil), is(api.Succeeded, &reported)
	stored := pickleOf(value)
	for name, tt := range map[string]struct {
		store      string
		cluster    cluster
		remembered bool
		trustStore bool
		want       Pickle // without its warning
		warning    string
		err        string
	}{
		"the pod reported it":                  {store: mine, cluster: cluster{now: ended}, want: Pickle{Pickle: reported, Source: Cluster}},
		"the cluster shows it later":           {store: mine, cluster: cluster{now: running, later: ended}, want: Pickle{Pickle: reported, Source: Cluster}},
		"from another store":                   {store: "gs://other", cluster: cluster{now: ended}, want: Pickle{Pickle: reported, Source: Cluster}},
		"gone, and remembered":                 {store: mine, cluster: cluster{now: gone}, remembered: true, want: Pickle{Pickle: reported, Source: Cache}},
		"gone":                                 {store: mine, cluster: cluster{now: gone}, want: Pickle{Pickle: stored, Source: Store}, warning: "the pod of job a1 is gone, so its result was checked only against the store gs://mine"},
		"ended without a report":               {store: mine, cluster: cluster{now: is(api.Succeeded, nil)}, want: Pickle{Pickle: stored, Source: Store}, warning: "only against the store"},
		"gone, in another store":               {store: "gs://other", cluster: cluster{now: gone}, err: "only its store, gs://other, has the hash of the result; that is not the store in use, gs://mine; if everybody"},
		"gone, in another store that is named": {store: "gs://other", cluster: cluster{now: gone}, trustStore: true, want: Pickle{Pickle: stored, Source: Store}},
		"no cluster":                           {store: mine, cluster: cluster{err: errors.New("no route")}, err: "could not get the hash of the result from its cluster, and only its store, gs://mine, has one: no route; if everybody"},
		"no cluster, and remembered":           {store: mine, cluster: cluster{err: errors.New("no route")}, remembered: true, want: Pickle{Pickle: reported, Source: Cache}},
		"no cluster, but trust":                {store: mine, cluster: cluster{err: errors.New("no route")}, trustStore: true, want: Pickle{Pickle: stored, Source: Store}},
		"it still runs":                        {store: mine, cluster: cluster{now: running, waits: true}, err: "its cluster has not reported that the job has ended: try again later"},
		"a local job":                          {cluster: cluster{err: errors.New("nobody asks")}, want: Pickle{Pickle: stored, Source: Local}},
		"a report that is none":                {store: mine, cluster: cluster{now: is(api.Succeeded, &api.Pickle{Name: "../x"})}, err: "its pod reported a malformed hash of its result"},
	} {
		t.Run(name, func(t *testing.T) {
			f := Verifier{Reports: Reports{t.TempDir()}, TrustStore: tt.trustStore, Timeout: time.Hour}
			if tt.cluster.waits {
				f.Timeout = time.Millisecond
			}
			if tt.remembered {
				f.Reports.Remember("gs://mine", "a1", reported)
			}
			got, err := f.Find(t.Context(), jobIn(t, tt.store, tt.cluster))
			if tt.err != "" {
				var untrusted *Error
				if !errors.As(err, &untrusted) || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (got.Warning != "") != (tt.warning != "") || !strings.Contains(got.Warning, tt.warning) {
				t.Errorf("warning %q, want %q", got.Warning, tt.warning)
			}
			got.Warning = ""
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if _, kept := f.Reports.Recall("gs://mine", "a1"); kept != (tt.want.Source == Cluster || tt.remembered) {
				t.Errorf("remembered: %v", kept)
			}
		})
	}
}

// printing is a cluster that has a log, and does not know yet that the job has ended.
type printing struct {
	cluster
	line string
}

func (p printing) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	seen(p.now)
	return p.cluster.Watch(ctx, h, seen)
}

func (p printing) Logs(ctx context.Context, _ api.Handle, a *logs.Archive, _ logs.Options, _ display.Streams) error {
	a.Take([]byte(p.line))
	a.Ended(ctx)
	return nil
}

func TestFindWhatTheLogReports(t *testing.T) {
	reported := pickleOf("reported")
	report := fmt.Sprintf("kinetic: result {%q:%q,%q:%q,%q:%d}\n", "name", reported.Name, "sha256", reported.SHA256, "size", reported.Size)
	for name, tt := range map[string]struct {
		line string
		want Source // "" for an error
	}{
		"the runner's line":      {"\x1c" + report, Cluster},
		"printed by the call":    {report, ""},
		"printed with the mark":  {"\x1d\x1c" + report, ""},
		"on standard error":      {"\x1e\x1c" + report, ""},
		"without a pickle in it": {"\x1ckinetic: result no\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster{now: is(api.Running, nil), waits: true}
			j := jobIn(t, "gs://mine", printing{c, tt.line})
			if s, err := j.Follow(t.Context(), logs.Options{Tail: -1, Host: -1}, display.Both(io.Discard), nil); err != nil || s.State != api.Succeeded {
				t.Fatalf("followed: %v, %v", s.State, err)
			}
			got, err := Verifier{Reports: Reports{t.TempDir()}, Timeout: time.Millisecond}.Find(t.Context(), j)
			if tt.want == "" {
				if err == nil {
					t.Errorf("got %+v, want an error", *got)
				}
				return
			}
			if err != nil || got.Source != tt.want || got.Pickle != reported {
				t.Errorf("got %+v, %v, want %+v of the %s", got, err, reported, tt.want)
			}
		})
	}
}

// hidden is a cluster that finds a job only by its ID.
type hidden struct{ cluster }

func (h hidden) Status(ctx context.Context, handle api.Handle) (api.WorkloadStatus, error) {
	if handle.K8sName != "" {
		return is(api.NotFound, nil), nil
	}
	return h.cluster.Status(ctx, handle)
}

func (h hidden) Watch(ctx context.Context, handle api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	if handle.K8sName != "" {
		return is(api.NotFound, nil), nil
	}
	return h.cluster.Watch(ctx, handle, seen)
}

// Whoever may write to the store may change the handle, too.
func TestAHandleHidesNothing(t *testing.T) {
	reported := pickleOf("reported")
	ended := is(api.Succeeded, &reported)
	for name, c := range map[string]cluster{"ended": {now: ended}, "still running": {now: is(api.Running, nil), later: ended}} {
		t.Run(name, func(t *testing.T) {
			j := jobIn(t, "gs://mine", hidden{c})
			j.Handle.K8sName, j.Handle.Backend = "kinetic-other", api.BackendLocal
			f := Verifier{Reports: Reports{t.TempDir()}, Timeout: time.Second}
			if got, err := f.Find(t.Context(), j); err != nil || got.Source != Cluster || got.Pickle != reported {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestFindNothing(t *testing.T) {
	j := jobIn(t, "", cluster{})
	for _, text := range []string{"", `{"version":1,"state":"FAILED"}`} {
		if err := j.Store.Delete(t.Context(), store.End("a1")); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := j.Store.Create(t.Context(), store.End("a1"), strings.NewReader(text), nil); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := (Verifier{}).Find(t.Context(), j); got != nil || err != nil {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}

func TestSave(t *testing.T) {
	j := jobIn(t, "gs://mine", cluster{})
	for name, tt := range map[string]struct {
		pickle api.Pickle
		err    string
	}{
		"the right one": {pickle: pickleOf(value)},
		"another one":   {pickle: pickleOf("12345"), err: "gs://mine/a1/result.pkl is not the result of job a1: its SHA-256 is " + pickleOf(value).SHA256 + ", and its pod reported " + pickleOf("12345").SHA256},
		"a shorter one": {pickle: api.Pickle{Name: "result.pkl", SHA256: pickleOf(value).SHA256, Size: 4}, err: "is not the result of job a1"},
		"a longer one":  {pickle: api.Pickle{Name: "result.pkl", SHA256: pickleOf(value).SHA256, Size: 6}, err: "is not the result of job a1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "out.pkl")
			if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
				t.Fatal(err)
			}
			err := Pickle{Pickle: tt.pickle, Source: Cluster}.Save(t.Context(), j, file)
			want := value
			if tt.err != "" {
				want = "old"
				var untrusted *Error
				if !errors.As(err, &untrusted) || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
			} else if err != nil {
				t.Error(err)
			}
			text, err := os.ReadFile(file)
			info, statErr := os.Stat(file)
			if err := errors.Join(err, statErr); err != nil || string(text) != want || info.Mode().Perm() != 0o640 {
				t.Errorf("the file has %q, %v, %v; want %q", text, info.Mode(), err, want)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("left %v, %v", entries, err)
			}
		})
	}
}

// What can't be replaced as a whole would get bytes that are not checked.
func TestSaveWhereNothingCanBeReplaced(t *testing.T) {
	j, p := jobIn(t, "gs://mine", cluster{}), Pickle{Pickle: pickleOf(value)}
	if err := p.Save(t.Context(), j, os.DevNull); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
	if err := p.Save(t.Context(), j, filepath.Join(t.TempDir(), "none", "out")); err == nil {
		t.Error("a directory that doesn't exist: no error")
	}
	if err := j.Store.Delete(t.Context(), store.Pickle("a1", "result.pkl")); err != nil {
		t.Fatal(err)
	}
	if err := p.Save(t.Context(), j, filepath.Join(t.TempDir(), "out")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no pickle: %v", err)
	}
}

func TestReports(t *testing.T) {
	r := Reports{Dir: filepath.Join(t.TempDir(), "kinetic")}
	one, two := pickleOf("one"), pickleOf("two")
	if _, known := r.Recall("gs://a", "a1"); known {
		t.Error("something is known of nothing")
	}
	r.Remember("gs://a", "a1", one)
	r.Remember("gs://b", "a1", two)
	r.Remember("gs://a", "a1", two) // of another job of that ID
	if got, known := r.Recall("gs://a", "a1"); !known || got != two {
		t.Errorf("got %+v, %v", got, known)
	}
	entries, err := os.ReadDir(filepath.Join(r.Dir, "results"))
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		old := time.Now().Add(-2 * reportAge)
		if err := os.Chtimes(filepath.Join(r.Dir, "results", e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	r.Remember("gs://c", "a1", one)
	_, first := r.Recall("gs://a", "a1")
	if got, known := r.Recall("gs://c", "a1"); first || !known || got != one {
		t.Errorf("after a long time: %v, %+v, %v", first, got, known)
	}
	none := Reports{}
	none.Remember("gs://a", "a1", one)
	if _, known := none.Recall("gs://a", "a1"); known {
		t.Error("nowhere remembers something")
	}
}
