// Package manifests holds the kustomize base and components from which every job is
// rendered. They also work alone: `kubectl kustomize manifests/base/job` works, and so
// does a kustomization that adds a component to it.
package manifests

import "embed"

// FS holds the directories base and components, as they are in the repository.
//
//go:embed base components
var FS embed.FS
