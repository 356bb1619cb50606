// Package leaderworkerset holds the manifest of LeaderWorkerSet that is installed with a cluster.
package leaderworkerset

import _ "embed" // the manifest

// Version is the release that the manifest installs.
const Version = "v0.9.0"

// YAML is the manifest: the namespace first, the definitions, and what runs.
//
//go:embed leaderworkerset.yaml
var YAML []byte
