// Package local runs jobs as sessions of processes on this machine. It is to
// `run --local` what Kubernetes is to other runs: it starts the runner, knows
// from any process at any time whether it runs, and ends it.
//
// Everything about a job is in one directory, {state}/{id}, which appears and
// disappears by a rename and is therefore never seen half made:
//
//	workload.json  what runs, and how to recognise its process
//	log            the job's output, stamped as package logs describes
//	runner.out     what the interpreter itself says: empty unless it crashed
//	work/          the runner's workspace, removed when the job has ended
//
// Beside them are the Python sources, one file for each version: the runner, and
// boot.py, which holds it back until the job is recorded. How a job ended stands
// in its store, as for all jobs.
package local
