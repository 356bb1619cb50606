package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// A record that can't be read hides no other job from a watch or a list. A watch reports
// it once, not at every poll.
func TestWatchListContinuesAfterAnUnreadableRecord(t *testing.T) {
	dir := t.TempDir()
	record := func(id, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, id), 0o700), os.WriteFile(filepath.Join(dir, id, "workload.json"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := func(id string) string {
		return `{"version":1,"job_id":"` + id + `","func_name":"f","store":"file://` + dir + `","created_at":"2026-01-01T00:00:00Z","process":{"machine":"another"}}`
	}
	record("good-1", elsewhere("good-1"))
	record("odd-1", "not JSON")
	var warned []string
	m := New(Config{StateDir: dir, OpenStore: store.OpenFile, Warn: func(err error) { warned = append(warned, err.Error()) }})
	looks := 0
	enough := errors.New("enough")
	err := m.WatchList(t.Context(), api.ListStates, func(found []api.JobSummary) error {
		if len(found) != 1 || found[0].ID != "good-1" {
			t.Errorf("found %v", found)
		}
		if looks++; looks == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || len(warned) != 1 || !strings.Contains(warned[0], "odd-1") {
		t.Errorf("ended with %v, warned %q", err, warned)
	}
	if err := os.RemoveAll(filepath.Join(dir, "good-1")); err != nil {
		t.Fatal(err)
	}
	never := func([]api.JobSummary) error { return errors.New("something was found") }
	if err := m.WatchList(t.Context(), api.ListStates, never); err == nil || !strings.Contains(err.Error(), "odd-1") {
		t.Errorf("where nothing can be read: %v", err)
	}
}

// Pick reads only the records of the picked jobs.
func TestPick(t *testing.T) {
	dir := t.TempDir()
	for id, text := range map[string]string{
		"a-20260101-000000-aaaaaaa": "not JSON",
		"good-1":                    `{"version":1,"job_id":"good-1","func_name":"f","store":"file://` + dir + `","created_at":"2026-01-01T00:00:00Z","process":{"machine":"another"}}`,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, id), 0o700), os.WriteFile(filepath.Join(dir, id, "workload.json"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	m := New(Config{StateDir: dir, OpenStore: store.OpenFile})
	var all []api.JobSummary
	got, err := m.Pick(t.Context(), func(given []api.JobSummary) []api.JobSummary {
		all = given
		return given[1:]
	})
	if err != nil || len(got) != 1 || got[0].ID != "good-1" || got[0].Function != "f" || got[0].State == "" {
		t.Errorf("picked %v, %v", got, err)
	}
	if len(all) != 2 || all[0].ID != "a-20260101-000000-aaaaaaa" || !all[0].Created.IsZero() || all[1].Created.IsZero() || all[1].State != "" {
		t.Errorf("chose among %v", all)
	}
}

// A job whose record can't be read is not taken for gone: every request about it fails, and
// nothing of it is removed.
func TestAJobWhoseRecordCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "odd-1", "workload.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("not JSON"), 0o600)); err != nil {
		t.Fatal(err)
	}
	m, h := New(Config{StateDir: dir, OpenStore: store.OpenFile}), api.Handle{JobID: "odd-1"}
	for name, ask := range map[string]func() error{
		"its status": func() error { _, err := m.Status(t.Context(), h); return err },
		"a watch": func() error {
			_, err := m.Watch(t.Context(), h, func(s api.WorkloadStatus) { t.Errorf("a watch has seen %v", s) })
			return err
		},
		"a removal": func() error { return m.Delete(t.Context(), h, api.DeleteOptions{}) },
	} {
		if err := ask(); err == nil || !strings.Contains(err.Error(), "odd-1") || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
