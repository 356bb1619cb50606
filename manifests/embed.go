// Package manifests holds the kustomize base and components that every job is
// rendered from. They stand for themselves: `kubectl kustomize
// manifests/base/job` works, and so does a kustomization that puts a component
// on it.
package manifests

import "embed"

// FS has the folders base and components, as they are in the repository.
//
//go:embed base components
var FS embed.FS
