//go:build linux || darwin

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// volumesOf returns inputs at three paths of a directory: a directory, a file and a copy.
func volumesOf(t *testing.T, at string) []api.Data {
	t.Helper()
	files := t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "weights.h5"), []byte("w"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []api.Data{
		{Name: "other", Access: api.AccessHere, Path: files},
		{Mount: filepath.Join(at, "images"), Access: api.AccessHere, Path: files},
		{Mount: filepath.Join(at, "weights"), Access: api.AccessHere, Path: files, File: "weights.h5"},
		{Mount: filepath.Join(at, "copied"), Access: api.AccessCopy, URL: "hf://o/n"},
	}
}

// names returns what a directory has.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// waitGone waits until there is nothing at a path.
func waitGone(t *testing.T, path string) {
	t.Helper()
	for until := time.Now().Add(patience); ; {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s is still there", path)
		}
	}
}

func TestVolumesAreLinksWhileTheJobRuns(t *testing.T) {
	for _, end := range []string{"ends", "is killed"} {
		t.Run(end, func(t *testing.T) {
			f, at := newFixture(t), t.TempDir()
			f.config.Warn = func(err error) { t.Errorf("warning: %v", err) }
			spec := f.spec("env:KINETIC_VOLUME_0", "env:KINETIC_VOLUME_1", "env:KINETIC_VOLUME_2", "wait:"+filepath.Join(f.storeDir, "go"))
			spec.Data = volumesOf(t, at)
			release := filepath.Join(f.storeDir, "go")
			if err := unix.Mkfifo(release, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := f.Start(t.Context(), spec, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"copied", "images", "weights"}, names(t, at)); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
			for _, of := range []string{"images", "weights"} {
				if diff := cmp.Diff([]string{"weights.h5"}, names(t, filepath.Join(at, of))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", of, diff)
				}
			}
			if end == "is killed" {
				if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			} else {
				if err := os.WriteFile(release, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				f.watch(t)
				dir := filepath.Join(f.stateDir, jobID)
				want := spec.Data[1].Path + "\n" + filepath.Join(dir, "volumes", "1") + "\n" + filepath.Join(dir, "work", "data", spec.Data[3].Key()) + "\n"
				if diff := cmp.Diff(want, f.log(t, wholeLog)); diff != "" {
					t.Errorf("the variables (-want +got):\n%s", diff)
				}
			}
			for _, d := range spec.Data[1:] {
				waitGone(t, d.Mount)
			}
			if _, err := os.Stat(filepath.Join(spec.Data[1].Path, "weights.h5")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVolumesNeverReplaceWhatIsThere(t *testing.T) {
	f, at := newFixture(t), t.TempDir()
	var warnings []string
	f.config.Warn = func(err error) { warnings = append(warnings, err.Error()) }
	spec := f.spec()
	spec.Data = volumesOf(t, at)
	if err := os.Mkdir(spec.Data[1].Mount, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), spec.Data[2].Mount); err != nil {
		t.Fatal(err)
	}
	spec.Data[3].Mount = filepath.Join(at, "no", "such")
	if err := f.Start(t.Context(), spec, nil); err != nil {
		t.Fatal(err)
	}
	f.watch(t)
	want := "--volume: no link can be made at " + spec.Data[1].Mount + " (file exists), " + spec.Data[2].Mount + " (file exists), " +
		spec.Data[3].Mount + " (no such file or directory): the job finds its files with KINETIC_VOLUME_0, KINETIC_VOLUME_1, KINETIC_VOLUME_2"
	if diff := cmp.Diff([]string{want}, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"images", "weights"}, names(t, at)); diff != "" {
		t.Errorf("what was there (-want +got):\n%s", diff)
	}
}

// TestLinkOfAnEndedJobIsReplaced: its keeper may have been killed, or be about to remove it.
func TestLinkOfAnEndedJobIsReplaced(t *testing.T) {
	f, at := newFixture(t), t.TempDir()
	f.config.Warn = func(err error) { t.Errorf("warning: %v", err) }
	spec := f.spec()
	spec.Data = volumesOf(t, at)
	gone := filepath.Join(f.stateDir, "cpu-gone-20261120-082019-abc1234", volumesDir, "0")
	if err := os.Symlink(gone, spec.Data[1].Mount); err != nil {
		t.Fatal(err)
	}
	if err := f.Start(t.Context(), spec, nil); err != nil {
		t.Fatal(err)
	}
	f.watch(t)
	waitGone(t, spec.Data[1].Mount)
}

// TestOneJobGetsAStaleLink: of jobs that start at the same time, one replaces the link of an ended job, and keeps its own.
func TestOneJobGetsAStaleLink(t *testing.T) {
	f := newFixture(t)
	if err := os.MkdirAll(f.stateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	gone, live, mount := filepath.Join(f.stateDir, "cpu-gone-20261120-082019-abc1234", volumesDir, "0"), t.TempDir(), filepath.Join(t.TempDir(), "images")
	for range 100 {
		_ = os.Remove(mount)
		if err := os.Symlink(gone, mount); err != nil {
			t.Fatal(err)
		}
		var made atomic.Int32
		var jobs sync.WaitGroup
		for range 8 {
			jobs.Go(func() {
				if f.replace(t.Context(), volume{mount: mount, entry: live}) == nil { // a link that no ended job has
					made.Add(1)
				}
			})
		}
		jobs.Wait()
		if made.Load() != 1 {
			t.Fatalf("%d jobs made the link", made.Load())
		}
	}
}
