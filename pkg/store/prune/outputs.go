package prune

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Outputs are the outputs of a job that was cleaned up without them, and the records that its runner kept.
type Outputs struct {
	ID      string `json:"id"`
	URL     string `json:"url"`
	Objects int    `json:"objects"`
	Bytes   int64  `json:"bytes"`

	objects []store.Object
}

// findOutputs looks at all directories of jobs.
func (p *Plan) findOutputs(ctx context.Context) error {
	ids, err := store.IDs(ctx, p.store, "")
	if err != nil {
		return err
	}
	p.ended = map[string]bool{}
	var mu sync.Mutex
	var left []Outputs
	var unended []string
	err = store.Each(ctx, ids, func(ctx context.Context, _ int, id string) error {
		found, job, err := outputsOf(ctx, p.store, id)
		mu.Lock()
		defer mu.Unlock()
		switch job {
		case unendedJob:
			unended = append(unended, id)
		case endedJob:
			p.ended[id] = true
		}
		if found.Objects > 0 {
			left = append(left, found)
		}
		return err
	})
	if err != nil || len(left) == 0 {
		return err
	}
	needed, err := inUse(ctx, p.store, unended)
	if err != nil {
		return err
	}
	for _, found := range left {
		if needed[found.ID] {
			continue
		}
		p.Outputs = append(p.Outputs, found)
		p.Objects += found.Objects
		p.Bytes += found.Bytes
	}
	slices.SortFunc(p.Outputs, func(a, b Outputs) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

// keepUsed takes outputs out of the plan that a job submitted since uses.
func (p *Plan) keepUsed(ctx context.Context) error {
	if len(p.Outputs) == 0 {
		return nil
	}
	ids, err := store.IDs(ctx, p.store, "")
	if err != nil {
		return err
	}
	used, err := inUse(ctx, p.store, slices.DeleteFunc(ids, func(id string) bool { return p.ended[id] }))
	if err != nil {
		return err
	}
	p.Outputs = slices.DeleteFunc(p.Outputs, func(o Outputs) bool {
		if used[o.ID] {
			p.Objects -= o.Objects
			p.Bytes -= o.Bytes
		}
		return used[o.ID]
	})
	return nil
}

// inUse returns those of these IDs that have a handle, and the IDs of the jobs with whose outputs such a job, which has not ended,
// may still begin.
func inUse(ctx context.Context, s store.Store, unended []string) (map[string]bool, error) {
	var mu sync.Mutex
	used := map[string]bool{}
	err := store.Each(ctx, unended, func(ctx context.Context, _ int, id string) error {
		text, err := records.ReadBytes(ctx, s, store.Handle(id))
		if errors.Is(err, store.ErrNotFound) { // cleaned up
			return nil
		}
		var handle struct {
			ResumeFrom string `json:"resume_from"` // in handles of every version
		}
		if err == nil && json.Unmarshal(text, &handle) == nil { // a broken one starts nothing
			mu.Lock()
			defer mu.Unlock()
			used[id], used[handle.ResumeFrom] = true, true
		}
		return err
	})
	return used, err
}

// jobState is what the records of a directory show of its job.
type jobState int

const (
	noJob      jobState = iota // cleaned up, or there never was one
	endedJob                   // it has ended
	unendedJob                 // it has a handle, but no end
)

// outputsOf returns the outputs of a job that was cleaned up. Without a handle, an ID that a program
// made, or an object that a runner has written, shows that there was a job.
func outputsOf(ctx context.Context, s store.Store, id string) (Outputs, jobState, error) {
	found, job := Outputs{ID: id, URL: s.URL() + "/" + store.Outputs(id)}, unendedJob
	ours := store.IsMadeID(id)
	for o, err := range s.List(ctx, id+"/", "") {
		switch {
		case err != nil:
			return Outputs{}, noJob, err
		case o.Name == store.Handle(id):
			return Outputs{}, job, nil
		case o.Name == store.End(id): // it is listed before the handle
			job = endedJob
		case strings.HasPrefix(o.Name, store.Outputs(id)) || store.IsSync(id, o.Name):
			found.Objects++
			found.Bytes += o.Size
			found.objects = append(found.objects, o)
			ours = ours || store.WrittenBy(o) == id
		}
	}
	if !ours {
		return Outputs{}, noJob, nil
	}
	return found, noJob, nil
}
