// Package rbac holds what a namespace needs for jobs, as `kubectl apply -k manifests/rbac` applies it.
package rbac

import "embed"

// FS holds the files of this folder.
//
//go:embed *.yaml
var FS embed.FS
