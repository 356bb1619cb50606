package api

// What a runner reads into memory has limits; it refuses more, so a client does
// so before anything is uploaded. The runner has the same numbers.
const (
	// MaxCallBytes bounds call.json.
	MaxCallBytes = 256 << 20
	// MaxIndexBytes bounds the JSON of a bundle's Index: about half a million files.
	MaxIndexBytes = 64 << 20
)

// MaxRestarts bounds retries and disruptions. It keeps clear of a million, which
// kustomize writes as 1e+06.
const MaxRestarts = 10_000

// MaxHosts bounds the hosts of a job: a pod's host name is made of the name of its
// job and the pod's number, and the longest has room for four digits.
const MaxHosts = 10_000
