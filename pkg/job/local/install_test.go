//go:build linux || darwin

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A runner that is run from a directory needs it until the job ends.
func TestStartSweepsRunnersThatNoJobNeeds(t *testing.T) {
	dirs := []string{runnerPrefix + "unused", runnerPrefix + "in-use", runnerPrefix + "young"}
	tests := map[string]struct {
		runner string // of a running job
		stay   []string
	}{
		"a job of this client":   {dirs[1], []string{dirs[1], dirs[2]}},
		"one that has its files": {"elsewhere", []string{dirs[2]}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			self, err := newProcess(os.Getpid())
			if err != nil {
				t.Fatal(err)
			}
			running := Record{Version: recordVersion, ID: "cpu-runs", Process: self, Runner: tt.runner}
			for _, dir := range append(slices.Clone(dirs), running.ID) {
				if err := os.MkdirAll(filepath.Join(f.stateDir, dir), 0o700); err != nil {
					t.Fatal(err)
				}
				then := time.Now().Add(-2 * scratchAge)
				if dir == runnerPrefix+"young" {
					then = time.Now()
				}
				if err := os.Chtimes(filepath.Join(f.stateDir, dir), then, then); err != nil {
					t.Fatal(err)
				}
			}
			if err := running.write(filepath.Join(f.stateDir, running.ID)); err != nil {
				t.Fatal(err)
			}
			f.start(t)
			f.watch(t)
			var stayed []string
			for _, dir := range dirs {
				if _, err := os.Stat(filepath.Join(f.stateDir, dir)); err == nil {
					stayed = append(stayed, dir)
				} else if !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
			if !slices.Equal(stayed, tt.stay) {
				t.Errorf("%q stayed, want %q", stayed, tt.stay)
			}
			if r, err := f.read(jobID); err != nil || !strings.HasPrefix(r.Runner, runnerPrefix) {
				t.Errorf("the record says that the runner is %q, %v", r.Runner, err)
			}
		})
	}
}

// A job may start at any time from a directory of its version: nothing in it changes.
func TestVersionsShareNoDirectory(t *testing.T) {
	original := bootSource
	t.Cleanup(func() { bootSource = original })
	f, dirs := newFixture(t), map[string]bool{}
	for _, boot := range []string{"one", "another"} {
		for _, runner := range []string{"runner", "other runner"} {
			bootSource, f.config.Runner = []byte(boot), fstest.MapFS{"__main__.py": {Data: []byte(runner)}}
			dir, err := f.install()
			if again, err2 := f.install(); err != nil || err2 != nil || again != dir {
				t.Fatalf("installed in %s, %v, and then in %s, %v", dir, err, again, err2)
			}
			dirs[dir] = true
		}
	}
	if len(dirs) != 4 {
		t.Errorf("4 versions are in %d directories", len(dirs))
	}
}

// The runner gets the hash of a payload, and starts its interpreter early.
func TestArgumentsForAPayload(t *testing.T) {
	args, err := newFixture(t).arguments(api.Spec{ID: jobID, Store: "file:///s", CallKind: api.CallPickle, Payload: &api.Payload{SHA256: "ab12"}}, nil)
	if got := strings.Join(args, " "); err != nil || !strings.Contains(got, "--payload ab12 --function") {
		t.Errorf("got %q, %v", got, err)
	}
}
