package api

import "github.com/kubectl-kinetic/kinetic/runner/kinetic_runner/contract"

// Contract is what the client and the runner both know.
var Contract = contract.Read()

// MaxRestarts limits retries and disruptions. It stays below a million, which kustomize
// writes as 1e+06.
const MaxRestarts = 10_000

// MaxHosts limits the hosts of a job. A pod's host name is the name of its job plus the
// pod's number, and the longest job name leaves room for four digits.
const MaxHosts = 10_000
