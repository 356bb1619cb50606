package main

import (
	"context"
	"errors"
	"time"
)

// verdict is how a step has ended.
type verdict string

const (
	passed     verdict = "passed"
	failed     verdict = "failed"
	skipped    verdict = "skipped"
	noCapacity verdict = "no capacity"
	notHere    verdict = "not here" // it can't be tried where the run takes place
)

// step is one of the jobs.
type step struct {
	name, what string
	// accelerator is the one of the node pool that the step adds and removes, "" for none.
	accelerator string
	// pool are the flags of pool add.
	pool []string
	// backend is --backend of the job and the pool, "" for the default.
	backend string
	// counts is the function that counts the chips of a host, and chips and hosts what there must be.
	counts       string
	chips, hosts int
	// limit is how long it may take, with the pool.
	limit time.Duration
	run   func(ctx context.Context, t *trial) error
}

// pathways is the backend that needs Google's Pathways runtime.
const pathways = "pathways"

// jobs are all steps with jobs, in the order in which they run.
var jobs = []step{
	{name: "cpu", what: "a function on CPUs", limit: 15 * time.Minute, run: cpu},
	{name: "outputs", what: "outputs, and a job that resumes from them", limit: 15 * time.Minute, run: outputs},
	{name: "image", what: "a bundled image, and a changed requirement", limit: 20 * time.Minute, run: image},
	{name: "map", what: "a map of 20 inputs", limit: 15 * time.Minute, run: mapped},
	{name: "data", what: "files of this machine by Cloud Storage FUSE", limit: 15 * time.Minute, run: data},
	{name: "python", what: "the Python decorator", limit: 15 * time.Minute, run: python},
	{name: "l4", what: "a spot L4", accelerator: "l4:spot", pool: []string{"--max-nodes", "1"}, counts: "gpus", chips: 1, hosts: 1, limit: 30 * time.Minute, run: chips},
	{name: "preempted", what: "a spot L4 whose machine is deleted", accelerator: "l4:spot", pool: []string{"--max-nodes", "1"}, hosts: 1, limit: 45 * time.Minute, run: preempted},
	{name: "v5e-1", what: "one chip of v5e", accelerator: "v5e-1", pool: []string{"--max-nodes", "1"}, counts: "tpus", chips: 1, hosts: 1, limit: 30 * time.Minute, run: chips},
	{name: "v6e-8", what: "eight chips of v6e on one host, spot", accelerator: "v6e-8:spot", pool: []string{"--max-nodes", "1"}, counts: "tpus", chips: 8, hosts: 1, limit: 30 * time.Minute, run: chips},
	{name: "two-hosts", what: "a slice of v5e on two hosts, spot", accelerator: "v5e-2x4:spot", backend: "lws", counts: "tpus", chips: 4, hosts: 2, limit: 30 * time.Minute, run: chips},
	{name: "pathways-version", what: "a version of the Pathways runtime that doesn't exist", backend: pathways, limit: 5 * time.Minute, run: noVersion},
	{name: "pathways", what: "the Pathways runtime on 16 chips of v5e, spot", accelerator: "v5e-4x4:spot", backend: pathways, chips: 4, hosts: 4, limit: 45 * time.Minute, run: allChips},
	{name: "pathways-lost", what: "a TPU host of it that is lost", accelerator: "v5e-2x4:spot", backend: pathways, limit: 60 * time.Minute, run: lostWorker},
	{name: "pathways-cancel", what: "a job with it that is cancelled", accelerator: "v5e-2x4:spot", backend: pathways, limit: 45 * time.Minute, run: cancelled},
	{name: "autopilot", what: "a job in an Autopilot cluster, which is made and deleted", limit: 60 * time.Minute, run: autopilot},
}

// row is a step that has ended, as the report has it.
type row struct {
	name, what string
	verdict    verdict
	why        string // it did not pass
	took       time.Duration
	usd        float64 // at most, of accelerators and other clusters, at list prices
	unproven   string
}

// skipError is why a step was not tried.
type skipError string

// Error implements error.
func (e skipError) Error() string { return string(e) }

// absentError is why a step can't be tried where the run takes place.
type absentError string

// Error implements error.
func (e absentError) Error() string { return string(e) }

// judge returns the verdict for the error of a step, and why.
func judge(err error) (verdict, string) {
	var skip skipError
	var absent absentError
	switch {
	case err == nil:
		return passed, ""
	case errors.As(err, &absent):
		return notHere, string(absent)
	case errors.As(err, &skip):
		return skipped, string(skip)
	case errors.Is(err, errInterrupted):
		return skipped, errInterrupted.Error()
	case said(err, elsewhere) != "":
		return skipped, said(err, elsewhere)
	case said(err, shortages) != "":
		return noCapacity, said(err, shortages)
	}
	return failed, err.Error()
}
