package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Config is what a Machine needs to know.
type Config struct {
	// StateDir holds one directory for each job; see StateDir.
	StateDir string
	// Python is the interpreter, empty for the first python3 on PATH.
	Python string
	// Runner has the sources of the runner. Only Start needs them.
	Runner fs.FS
	// OpenStore opens the store that a job names.
	OpenStore func(rawURL string) (store.Store, error)
	// Warn, if not nil, is called about jobs that WatchList can't read, and about volumes that a
	// started job does not find at their paths.
	Warn func(error)
}

// Machine starts, lists, watches and ends the jobs of this machine.
type Machine struct {
	config Config
}

// New returns a Machine. It touches no files.
func New(c Config) *Machine { return &Machine{config: c} }

// Supported returns an error, which says what to do, where local jobs can't run: on Windows.
func Supported() error { return supportedOn(runtime.GOOS) }

func supportedOn(goos string) error {
	if goos == "linux" || goos == "darwin" {
		return nil
	}
	return errors.New("local jobs need Linux or macOS, but this is " + goos + ": run the job on a cluster, without --local")
}

// StateDir returns the directory of local jobs: kinetic/local under XDG_STATE_HOME, by
// default ~/.local/state. As the XDG specification says, it ignores a relative
// XDG_STATE_HOME.
func StateDir() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home := platform.HomeDir(os.Getenv)
		if home == "" {
			return "", errors.New("finding the directory of local jobs: the home directory is unknown: set XDG_STATE_HOME")
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "kinetic", "local"), nil
}

// The file names in a job's directory.
const (
	recordFile = "workload.json"
	logFile    = "log"
	outFile    = "runner.out"
	workDir    = "work"
)

// Workspace returns the package root of a running job, under the directory of local jobs.
func Workspace(stateDir, id string) string {
	return filepath.Join(stateDir, id, workDir, "workspace")
}

func (m *Machine) dir(id string) string { return filepath.Join(m.config.StateDir, id) }

// remove deletes a job's directory: it hides it at once, then deletes it from the disk.
func (m *Machine) remove(id string) error {
	trash, err := os.MkdirTemp(m.config.StateDir, scratchPrefix)
	if err == nil {
		err = os.Rename(m.dir(id), filepath.Join(trash, id))
	}
	return errors.Join(err, os.RemoveAll(trash))
}
