package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// recordVersion is the version of workload.json that this code writes and reads.
const recordVersion = 1

// Record is what is stored about one job of this machine.
type Record struct {
	Version int    `json:"version"`
	ID      string `json:"job_id"`
	// Name is the function, script, module or command as the user knows it.
	Name string `json:"func_name"`
	// Accelerator is as typed.
	Accelerator string `json:"accelerator"`
	// Store is the URL of the job's store.
	Store   string    `json:"store"`
	Created time.Time `json:"created_at"`
	Process Process   `json:"process"`
	// Runner is the name of the directory, in the state directory, from which the job's
	// runner runs.
	Runner string `json:"runner,omitempty"`
	// Volumes are the paths at which the job expects its volumes.
	Volumes []string `json:"volumes,omitempty"`
	// Status is the job's status when the Record was read; it is not stored.
	Status api.Status `json:"-"`
}

// get returns the record of one job, with its status. If the job is not on this machine,
// the error is fs.ErrNotExist. If only reading or recording how the job ended fails, get
// returns the Record and that error.
func (m *Machine) get(ctx context.Context, id string) (Record, error) {
	r, err := m.read(id)
	if err != nil {
		return Record{}, err
	}
	r.Status, err = m.status(ctx, r)
	return r, err
}

func (m *Machine) folders() ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(m.config.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing local jobs: %w", err)
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return store.CheckID(e.Name()) != nil || !e.IsDir() }), nil
}

// Count returns the number of jobs on this machine, without reading any.
func (m *Machine) Count() int {
	entries, _ := m.folders() // none, if they can't be read
	return len(entries)
}

func (m *Machine) read(id string) (Record, error) {
	var r Record
	if err := store.CheckID(id); err != nil {
		return r, err
	}
	path := filepath.Join(m.dir(id), recordFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("there is no local job %s below %s: %w", id, m.config.StateDir, fs.ErrNotExist)
	}
	if err != nil {
		return r, fmt.Errorf("reading local job %s: %w", id, err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fmt.Errorf("reading local job %s: %s is not a record of it: %w", id, path, err)
	}
	if r.Version > recordVersion || r.ID != id {
		return Record{}, fmt.Errorf("reading local job %s: %s is of job %q and version %d, this program reads up to version %d: upgrade it",
			id, path, r.ID, r.Version, recordVersion)
	}
	return r, nil
}

// write writes workload.json into dir, which other processes don't see yet.
func (r Record) write(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, recordFile), append(data, '\n'), 0o600)
}
