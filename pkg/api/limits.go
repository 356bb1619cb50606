package api

// Limits for what a runner reads into memory. It refuses more, so a client refuses before
// it uploads anything. The runner has the same numbers.
const (
	// MaxCallBytes limits call.json.
	MaxCallBytes = 256 << 20
	// MaxIndexBytes limits the JSON of a bundle's Index: about half a million files.
	MaxIndexBytes = 64 << 20
)

// MaxRestarts limits retries and disruptions. It stays below a million, which kustomize
// writes as 1e+06.
const MaxRestarts = 10_000

// MaxHosts limits the hosts of a job. A pod's host name is the name of its job plus the
// pod's number, and the longest job name leaves room for four digits.
const MaxHosts = 10_000
