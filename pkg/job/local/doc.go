// Package local runs jobs as sessions of processes on this machine. It is to `run --local`
// what Kubernetes is to other runs: it starts the runner, can find out from any process at
// any time whether it runs, and ends it.
//
// Everything about a job is in one directory, {state}/{id}, which appears and disappears by
// a rename, so that no one sees it incomplete:
//
//	workload.json  what runs, and how to recognise its process
//	log            the job's output, stamped as package logs describes
//	runner.out     what the interpreter itself says: empty unless it crashed
//	work/          the runner's workspace, removed when the job has ended
//
// Beside these directories are the Python sources, one directory for each version: the
// runner, and boot.py, which delays it until the job is recorded. How a job ended is
// recorded in its store, as for all jobs.
package local
