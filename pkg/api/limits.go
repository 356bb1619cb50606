package api

import "github.com/kubectl-kinetic/kinetic/runner/kinetic_runner/contract"

// facts are what the runner knows, too.
var facts = contract.Read()

// Limits for what a runner reads into memory. It refuses more, so a client refuses before it uploads anything.
var (
	// MaxCallBytes limits call.json.
	MaxCallBytes = facts.Limits.Call
	// MaxIndexBytes limits the JSON of a bundle's Index: about half a million files.
	MaxIndexBytes = facts.Limits.Index
)

// MaxRestarts limits retries and disruptions. It stays below a million, which kustomize
// writes as 1e+06.
const MaxRestarts = 10_000

// MaxHosts limits the hosts of a job. A pod's host name is the name of its job plus the
// pod's number, and the longest job name leaves room for four digits.
const MaxHosts = 10_000
